"""Releases: built from rows, checked, published."""
