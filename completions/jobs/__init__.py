"""Long work on datasets that pages start: rows that a worker takes, shows and ends."""
