"""The JSON API: its routes by topic, request and response schemas, and the OpenAPI document (docs/api.md)."""
