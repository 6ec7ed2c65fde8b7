"""Batches: many claims with the same options, each checked by a run of its own."""
