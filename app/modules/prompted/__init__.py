"""The five roles, implemented by prompting a language model as in QACheck (Appendix A.1 to A.4)."""
