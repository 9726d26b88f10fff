"""Show the Markdown of a study file."""

from django import template
from django.utils.safestring import SafeString, mark_safe

from annotation.studies.markup import render

register = template.Library()


@register.filter
def markdown(text: str, top: int = 3) -> SafeString:
    """Return ``text`` as HTML, its highest heading at level ``top``."""
    return mark_safe(render(text, top=top))  # noqa: S308 (render escapes all that it does not know)
