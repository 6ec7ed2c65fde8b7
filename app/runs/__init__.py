"""Runs: store, queue, carry out and read the checks of claims. The entry point is `app.runs.service.Runs`."""
