"""The heart: what a claim check is, in plain Python. Imports the standard library and itself, nothing else."""
