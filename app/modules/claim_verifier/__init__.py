"""Claim verifier: judge whether the context is sufficient to decide the claim (QACheck, section 3.1)."""
