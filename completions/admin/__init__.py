"""Tables of the completions app in Django's admin: to read, with two acts that services do."""

from completions.admin import content, people, sources

__all__ = ["content", "people", "sources", "strategies"]
