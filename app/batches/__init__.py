"""Batches: many claims from a file or a request, each checked by a run of its own."""
