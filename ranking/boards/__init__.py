"""Leaderboards: what a fit found, as rows."""
