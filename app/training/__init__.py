"""Scripts' code that makes the weights we ship. Never imported by a running app."""
