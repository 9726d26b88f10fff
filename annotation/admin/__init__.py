"""Tables of the annotation app in Django's admin: to read, not to change."""

from annotation.admin import judges, judging

__all__ = ["external", "judges", "judging", "rationales"]
