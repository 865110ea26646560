"""What Hermes remembers between sessions."""
