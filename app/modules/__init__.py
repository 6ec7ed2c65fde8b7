"""The five roles, implemented. Backends are handed in; nothing here loads a model or opens a file of weights."""
