"""Which pairs a study compares."""
