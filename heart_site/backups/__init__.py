"""Backups of a site that runs, and their verified restore (docs/deployment.md, ADR-0064)."""
