"""Tokens of the API."""
