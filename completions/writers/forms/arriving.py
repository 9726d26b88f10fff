"""Parse how somebody answers an invitation, and what they say about themselves."""

from collections.abc import Iterator

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.choices import Background

BACKGROUNDS = [
    (Background.PEER, _("I support others in my life or as a volunteer")),
    (Background.CLINICIAN, _("I support others as my profession, for instance in therapy or care")),
    (Background.CROWD, _("Neither: I write for studies, or simply want to help")),
]
"""What the page offers: the posted value, and its label in plain words."""


class Consent(forms.Form):
    """Agree or decline."""

    choice = forms.ChoiceField(choices=[("agree", "agree"), ("decline", "decline")])


class Profile(forms.Form):
    """The one question of the profile, and whether to be rated alone where that is offered."""

    background = forms.TypedChoiceField(
        label=_("Which of these fits you best?"),
        choices=BACKGROUNDS,
        coerce=Background,
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Please choose one of the three; the nearest is good enough."),
            "invalid_choice": _("Please choose one of the three; the nearest is good enough."),
        },
    )
    has_own_system = forms.BooleanField(
        required=False,
        label=_("Rate my messages on their own as well"),
        widget=forms.CheckboxInput({"aria-describedby": "own-hint"}),
    )

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            for message in messages:
                yield f"{self[name].auto_id}_0", str(message)
