"""Objects built from settings: the only place that knows every part."""
