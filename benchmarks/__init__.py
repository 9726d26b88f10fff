"""What the statistics cost and how often they hold, measured; `make bench-...` runs it."""
