"""Training of the models that ship, from the data folder. Nothing here is needed to run the app."""
