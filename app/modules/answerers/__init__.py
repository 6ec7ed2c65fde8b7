"""Question answering: one file an answerer."""
