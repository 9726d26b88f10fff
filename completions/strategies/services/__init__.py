"""Writes of strategies."""
