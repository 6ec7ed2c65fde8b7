"""Assess a claim from the answers and the judge's probabilities, for the claim verifier and the reasoner."""
