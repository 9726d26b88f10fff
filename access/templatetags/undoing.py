"""What a message offers to undo."""

import json
from typing import Any

from django import template
from django.contrib.messages.storage.base import Message

register = template.Library()


@register.filter
def undo_of(message: Message) -> dict[str, Any] | None:
    """Return where a message's act is undone, and the fields to post; None if it cannot be."""
    return json.loads(message.extra_tags) if message.extra_tags else None
