"""Calls to models as rows: planned, paid, claimed, asked, paused and told."""
