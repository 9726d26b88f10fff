"""Read the files that people bring in, row by row: pure, and the same under every import.

``docs/files.md`` describes them.
"""
