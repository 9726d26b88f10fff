"""Management commands of the annotation app."""
