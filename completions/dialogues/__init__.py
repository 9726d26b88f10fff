"""Dialogues: read from files in any format, stored as datasets, and shown."""
