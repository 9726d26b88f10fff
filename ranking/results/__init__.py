"""Pages and downloads of results."""
