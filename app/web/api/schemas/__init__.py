"""The JSON Schemas (2020-12) of what the API takes and gives."""
