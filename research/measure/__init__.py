"""Measurements of retrieval, of large corpora and of the sample claims."""
