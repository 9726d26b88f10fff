"""Say what was done, beside a button that undoes it."""

import json

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _


def say_done(request: HttpRequest, said: str, *, undo: str, **fields: str) -> None:
    """Say what was done, beside a button that posts ``fields`` to ``undo``, an address of ours.

    Where the act that undoes wants a reason, it is that the first was undone. The template of
    messages reads this with ``undo_of``.
    """
    told = {"to": undo, "fields": {"reason": _("Undone."), **fields}}
    messages.success(request, said, extra_tags=json.dumps(told))
