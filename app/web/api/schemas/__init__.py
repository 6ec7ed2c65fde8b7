"""The JSON Schemas (2020-12) of what the API takes and gives, by topic; tests hold every answer to them."""
