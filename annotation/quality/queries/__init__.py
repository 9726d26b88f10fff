"""Reads of rater quality: from rows to what the rules look at, in a fixed number of queries."""
