"""What an owner fills in for somebody new in the team, and for a role."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from access.choices import Role
from access.members.services import NewMember


class RoleForm(forms.Form):
    """A role."""

    role = forms.ChoiceField(choices=Role.choices, label=_("Role"))

    def chosen(self) -> Role:
        """Return the role of a valid form."""
        return Role(self.cleaned_data["role"])


class MemberForm(RoleForm):
    """Somebody who is to be in the team."""

    username = forms.CharField(max_length=100, label=_("Username"))
    email = forms.EmailField(required=False, label=_("E-mail address"))

    def new_member(self) -> NewMember:
        """Return what a valid form asks for."""
        given: dict[str, Any] = self.cleaned_data
        return NewMember(given["username"], self.chosen(), given["email"])
