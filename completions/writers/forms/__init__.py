"""Parse what writers post; forms return finished values and never save."""
