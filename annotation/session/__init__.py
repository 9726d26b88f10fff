"""The pages of a rater, from the link to the end."""
