"""Claim verifier: is the context enough to decide the claim? (QACheck, section 3.1)"""
