"""Strategies: the ways of checking a claim with a set of modules."""
