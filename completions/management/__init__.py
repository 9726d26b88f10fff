"""Commands of the completions app."""
