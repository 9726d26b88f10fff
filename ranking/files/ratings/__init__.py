"""Ratings from a file of judgments, without a database; see docs/files.md."""
