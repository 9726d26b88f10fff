"""Writes of systems."""
