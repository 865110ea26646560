"""The model that runs on this machine: its weights, the server that serves them, and what it keeps."""
