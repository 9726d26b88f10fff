"""The way from the rows of judgments to arrays."""
