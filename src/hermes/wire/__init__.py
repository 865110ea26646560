"""What was sent, what a cache should have made of it, and why it made something else of it."""
