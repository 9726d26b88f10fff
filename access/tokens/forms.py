"""What an owner fills in for a new token."""

import datetime as dt
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from access.choices import Scope
from access.models import LONGEST
from access.tokens.services import NewToken


class TokenForm(forms.Form):
    """A token that is to be made."""

    name = forms.CharField(max_length=80, label=_("What it is for"))
    scopes = forms.MultipleChoiceField(choices=Scope.choices, label=_("What it may do"))
    study = forms.SlugField(required=False, max_length=50, label=_("For one study alone"))
    days = forms.IntegerField(
        min_value=1, max_value=LONGEST.days, initial=90, label=_("Valid for so many days")
    )

    def new_token(self) -> NewToken:
        """Return what a valid form asks for."""
        given: dict[str, Any] = self.cleaned_data
        return NewToken(
            given["name"],
            [Scope(one) for one in given["scopes"]],
            dt.timedelta(days=given["days"]),
            given["study"],
        )
