"""Evaluation, training, their commands and notes. `app` runs without it, and then has no such commands."""
