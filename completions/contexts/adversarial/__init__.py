"""Rewrite the seeker of a context to be hostile, and check what came back: pure."""
