"""HTTP front end: HTML pages, server-sent events, the JSON API, and security."""
