"""What every request passes, and what an answer carries."""
