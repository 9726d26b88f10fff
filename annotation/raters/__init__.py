"""People who rate: how they come, what they understand, how they leave."""
