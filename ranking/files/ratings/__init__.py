"""Ratings from a file of judgments, without a database; see docs/prompt.md."""
