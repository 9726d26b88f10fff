"""The API of contexts, systems and completions."""
