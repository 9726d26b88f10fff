"""Writes of contexts: screened and built, reviewed, rewritten, with second opinions."""
