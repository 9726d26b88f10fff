"""Whom the site tells of what happens."""
