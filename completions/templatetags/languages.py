"""How a text that people wrote is laid out, whatever language the page itself is in."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from completions.dialogues.display import UNDETERMINED, direction

register = template.Library()


@register.simple_tag
def in_language(tag: str = UNDETERMINED) -> SafeString:
    """Return the attributes of an element that shows a text in the language of a BCP 47 tag.

    No browser translates it: what is judged, and what a writer answers, are its very words. An
    empty `lang` says that the language is not known.
    """
    lang = "" if tag == UNDETERMINED else tag
    return format_html('translate="no" lang="{}" dir="{}"', lang, direction(tag))
