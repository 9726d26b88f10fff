"""Check a release by its files alone: no database, no settings, no network."""
