"""Datasets with labels, metrics, and the tables of both papers. Nothing here is needed to run the app."""
