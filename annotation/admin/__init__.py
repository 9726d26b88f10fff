"""Tables of the annotation app in Django's admin: to read, not to change."""

from annotation.admin import judges, judging, rationales

__all__ = ["judges", "judging", "rationales"]
