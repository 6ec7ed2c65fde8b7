"""The HTML pages and their forms, one module per subject."""
