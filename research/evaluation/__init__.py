"""Evaluation on labelled data sets, metrics, and the tables of both papers. The app runs without it."""
