"""Reasoner: the label and its rationale (QACheck, section 3.5)."""
