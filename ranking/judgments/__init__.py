"""Which judgments count, and the way from rows to arrays."""
