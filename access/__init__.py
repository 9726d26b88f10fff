"""Who may do what, and what they did: members of the team, and the append-only log."""
