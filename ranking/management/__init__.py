"""Commands of the ranking app."""
