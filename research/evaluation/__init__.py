"""Evaluation on labelled data sets, metrics, and the tables of both papers.

Servers run without it; the command line imports it.
"""
