"""The embedded default: the whole site in one process (ADR-0014)."""
