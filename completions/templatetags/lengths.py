"""Lengths of time in templates."""

import datetime as dt

from django import template

from completions import shown_runs

register = template.Library()


@register.filter
def in_words(length: dt.timedelta) -> str:
    """Return a length of time as one would say it."""
    return shown_runs.in_words(length)
