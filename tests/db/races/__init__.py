"""People who act at the same moment."""
