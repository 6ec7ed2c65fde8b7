"""Exporters of finished runs: Markdown and ClaimReview."""
