"""Build every object of a run from the settings; the only package that knows all implementations."""
