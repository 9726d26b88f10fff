"""Command lines of the annotation app."""
