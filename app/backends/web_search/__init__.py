"""Web search engines behind the port `WebSearch`: SearXNG, Brave, Tavily and Serper. Setup: docs/sources.md."""
