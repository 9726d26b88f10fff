"""Lengths of time in templates."""

import datetime as dt

from django import template

from completions.runs import view_data

register = template.Library()


@register.filter
def in_words(length: dt.timedelta) -> str:
    """Return a length of time as one would say it."""
    return view_data.in_words(length)
