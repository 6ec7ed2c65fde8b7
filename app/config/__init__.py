"""Settings from the environment, and what is checked before the server starts."""
