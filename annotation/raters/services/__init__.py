"""Writes of raters."""
