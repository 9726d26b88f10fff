"""Parse what admins say about quality checks, reports and judgments made elsewhere."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.choices import Expected, ReportOutcome
from completions.dialogues.forms import Words

MAX_REASON = 1000
NO_REASON = _("Write in a few words why: it is kept with the decision.")
LONG_REASON = _("The reason is longer than 1000 characters. Say it more briefly.")
NO_ANSWER = _("Choose what is known of it.")


class WithReason(forms.Form):
    """An act that needs a reason."""

    reason = Words(
        max_length=MAX_REASON,
        error_messages={"required": NO_REASON, "max_length": LONG_REASON},
    )

    def problem(self) -> str:
        """Return the first thing that is wrong, in words."""
        return next((str(words[0]) for words in self.errors.values()), "")


class SwitchForm(WithReason):
    """Turn a check off, or on again."""

    is_active = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )


class MarkForm(WithReason):
    """Say what is known of a comparison that counts."""

    key = forms.CharField(max_length=24)
    expected = forms.TypedChoiceField(
        choices=Expected.choices,
        coerce=Expected,
        error_messages={"required": NO_ANSWER, "invalid_choice": NO_ANSWER},
    )
    dimension = forms.CharField(required=False, max_length=20)
    field_order = ("key", "expected", "dimension", "reason")


class DecideForm(WithReason):
    """Show a reported talk again, or to nobody any more."""

    outcome = forms.TypedChoiceField(choices=ReportOutcome.choices, coerce=ReportOutcome)


class BatchForm(WithReason):
    """Leave a batch of judgments made elsewhere out, or take it back."""

    is_excluded = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )
