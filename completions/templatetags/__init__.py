"""Filters for templates of this app."""
