"""The life of a run: started, carried out by a job, told event by event, read back as the fold of its events."""
