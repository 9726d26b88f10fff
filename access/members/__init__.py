"""Who belongs to the team."""
