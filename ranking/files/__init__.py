"""Ratings and agreement from a file of judgments, without a database."""
