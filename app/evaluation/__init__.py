"""Measuring: metrics over predictions. Runs strategies and models directly, never through stored runs."""
