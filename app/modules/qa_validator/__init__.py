"""QA validator: select the answers to keep (QACheck, section 3.4)."""
