"""Store, queue, carry out and read runs, the checks of claims. The entry point is `app.runs.service.Runs`."""
