"""Labelled claims about the leads (first paragraphs) of the shipped corpus's articles, and evaluation on them."""
