"""Read dialogues from files in any of five formats: pure, record by record, one kind of result.

``docs/dialogues.md`` describes the formats.
"""
