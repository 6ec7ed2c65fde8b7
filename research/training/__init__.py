"""Training of the models that ship, and of others to use in their place. Nothing here is needed to run the app."""
