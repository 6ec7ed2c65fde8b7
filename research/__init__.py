"""Evaluation, training, benchmarks and notes. Nothing here is needed to run the app."""
