"""What the answers and the judge say of a claim, for the claim verifier and the reasoner."""
