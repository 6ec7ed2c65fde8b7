"""QA validator: which answers count. (QACheck, section 3.4)"""
