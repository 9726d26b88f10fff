"""What an owner fills in for a new token, and for somebody new."""

import datetime as dt
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from access.choices import Role
from access.models.token import LONGEST
from access.scopes import Scope
from access.services import NewMember, Wanted


class NewToken(forms.Form):
    """A token that is to be made."""

    name = forms.CharField(max_length=80, label=_("What it is for"))
    scopes = forms.MultipleChoiceField(choices=Scope.choices, label=_("What it may do"))
    study = forms.SlugField(required=False, max_length=50, label=_("For one study alone"))
    days = forms.IntegerField(
        min_value=1, max_value=LONGEST.days, initial=90, label=_("Valid for so many days")
    )

    def wanted(self) -> Wanted:
        """Return what a valid form asks for."""
        given: dict[str, Any] = self.cleaned_data
        return Wanted(
            given["name"],
            [Scope(one) for one in given["scopes"]],
            dt.timedelta(days=given["days"]),
            given["study"],
        )


class ChosenRole(forms.Form):
    """A role."""

    role = forms.ChoiceField(choices=Role.choices, label=_("Role"))

    def chosen(self) -> Role:
        """Return the role of a valid form."""
        return Role(self.cleaned_data["role"])


class Newcomer(ChosenRole):
    """Somebody who is to be in the team."""

    username = forms.CharField(max_length=100, label=_("Username"))
    email = forms.EmailField(required=False, label=_("E-mail address"))

    def wanted(self) -> NewMember:
        """Return what a valid form asks for."""
        given: dict[str, Any] = self.cleaned_data
        return NewMember(given["username"], self.chosen(), given["email"])
