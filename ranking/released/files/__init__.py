"""The files of a release: which there are, what is in them, and how they are written."""
