"""What produces completions: catalogues, models of one's own, completions from files."""
