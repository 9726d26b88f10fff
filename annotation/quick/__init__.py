"""A study from one file of texts by several systems: the file is read, stored, planned, opened."""
