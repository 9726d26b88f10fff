"""Writes of judging."""
