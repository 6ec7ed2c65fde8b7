"""Load tests of one server and of two workers (docs/operations.md)."""
