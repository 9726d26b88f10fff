"""Check a release by its files alone: no database, no settings, no network."""

from ranking.release_check.verifying import Report, verify

__all__ = ["Report", "verify"]
