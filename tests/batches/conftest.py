"""Fixtures of the batch tests: those of the run tests."""

from tests.runs.conftest import database_url, leases_with, runs, runs_with

__all__ = ["database_url", "leases_with", "runs", "runs_with"]
