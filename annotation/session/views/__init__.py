"""Rater-facing pages; each view parses, calls one service and answers."""
