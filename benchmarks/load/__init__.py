"""How the rater's loop stands a crowd: the whole stack under load, beside bare Django."""
