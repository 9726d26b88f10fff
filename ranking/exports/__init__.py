"""Exports of a study, and the dictionary of their columns."""
