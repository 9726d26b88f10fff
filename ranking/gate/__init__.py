"""Whether a system became worse than a baseline."""
