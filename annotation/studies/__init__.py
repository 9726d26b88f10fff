"""A study: its protocol, rubric and state."""
