"""The five roles by prompting a language model, as QACheck does (Appendix A.1 to A.4)."""
