"""Texts of dialogues in templates, whole or cut short, and lengths of time."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from completions.contexts.queries import beginning
from completions.dialogues.display import UNDETERMINED, direction
from completions.dialogues.normaliser import plain
from completions.runs.view_data import in_words

register = template.Library()
register.filter("beginning", beginning)
register.filter("plain", plain)  # the plain dress of the raters' pages
register.filter("in_words", in_words)


@register.simple_tag
def in_language(tag: str = UNDETERMINED) -> SafeString:
    """Return the attributes of an element that shows a text in the language of a BCP 47 tag.

    No browser translates it: what is judged, and what a writer answers, are its very words. An
    empty `lang` says that the language is not known.
    """
    lang = "" if tag == UNDETERMINED else tag
    return format_html('translate="no" lang="{}" dir="{}"', lang, direction(tag))
