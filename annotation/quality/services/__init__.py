"""Writes of quality."""
