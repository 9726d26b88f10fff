"""What gives the source of a text away, and the texts that are held for it."""
