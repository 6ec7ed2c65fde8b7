"""Golden files: the public surface of Hopcheck as text and JSON, compared in tests."""
