"""The JSON API: its routes by topic, what they take and tell, and the document that describes them (docs/api.md)."""
