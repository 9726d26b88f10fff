"""Judgments in files that any tool wrote: their layouts, and going through them; pure.

``docs/files.md`` describes them.
"""
