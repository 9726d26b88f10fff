"""Writes of studies."""
