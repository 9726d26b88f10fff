"""Writes of rationales."""
