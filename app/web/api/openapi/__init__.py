"""The API's OpenAPI document: each address, what it takes and every answer that may come."""
