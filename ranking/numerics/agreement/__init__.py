"""Agreement of evaluators, from counts of what each said of each item."""
