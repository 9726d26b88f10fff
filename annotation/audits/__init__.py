"""Audits of a study's blinding, as rows."""
