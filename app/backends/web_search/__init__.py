"""Search engines of the web behind the port `WebSearch`: SearXNG, Brave, Tavily and Serper.

What differs between them is data and a few lines each (searxng.py, brave.py, tavily.py, serper.py); asking, waiting,
caching and cleaning are the same for all (searching.py). docs/web-search.md says how to set them up.
"""
