"""The conversation on a terminal: what is typed below, what is said above."""
