"""Fits: claimed, computed, stored, verified and read."""
