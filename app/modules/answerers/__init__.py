"""Question answerers: one file per answerer."""
