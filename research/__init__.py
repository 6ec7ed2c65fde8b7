"""Evaluation, training, benchmarks and notes. Servers run without it; the command line imports it."""
