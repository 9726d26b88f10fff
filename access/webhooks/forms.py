"""Parse what a webhook is to be."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from access.choices import HookEvent
from access.webhooks.services.hooks import NewHook

CHOSEN = [event for event in HookEvent if event != HookEvent.TEST]
"""Events that can be chosen; a test goes to whom it is sent."""


class HookForm(forms.Form):
    """An address and the events that it is told of."""

    url = forms.CharField(label=_("Address"), max_length=500)
    events = forms.MultipleChoiceField(
        label=_("Tell it when"),
        choices=[(event.value, event.label) for event in CHOSEN],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose one event at least.")},
    )

    def new_hook(self) -> NewHook:
        """Return what was asked for, once the form is valid."""
        given: dict[str, Any] = self.cleaned_data
        return NewHook(given["url"], [HookEvent(value) for value in given["events"]])
