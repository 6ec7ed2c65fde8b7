"""Exporters of finished runs: Markdown, ClaimReview, RIS and BibTeX."""
