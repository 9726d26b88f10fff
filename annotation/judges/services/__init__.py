"""Writes of judges."""
