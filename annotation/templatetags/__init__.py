"""Filters of the rater-facing templates."""
