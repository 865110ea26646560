"""The gate between outside text and a prompt: scan, policy, trust, admission."""
