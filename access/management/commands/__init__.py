"""Commands of access."""
