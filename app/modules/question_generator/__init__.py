"""Question generator: the next question to ask (QACheck, section 3.2)."""
