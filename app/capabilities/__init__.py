"""The options for a run on this installation, and why others are unavailable."""
