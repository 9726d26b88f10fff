"""Writes of writers."""
