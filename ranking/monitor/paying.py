"""Pure: what to do about the pay of a submission, by the rules of crowd platforms.

A platform lets work be turned down for few reasons. Prolific: two failed attention checks, or one
in a task of less than five minutes; never for stopping early, which is paid in part or given back.
"""

from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.choices import SubmissionState
from annotation.session.endings import Way

PARTLY = (Way.PARTIAL, Way.SCREENED_OUT)
FEWEST_FAILED = 2
SHORT_MINUTES = 5
SHORTEST_MESSAGE = 100
"""Characters that Prolific asks of the reason for a rejection."""


class Advice(StrEnum):
    """What to do about a submission."""

    APPROVE = "approve"
    LOOK = "look"
    REJECTABLE = "rejectable"
    PART = "part"
    RETURN = "return"
    WAIT = "wait"
    SETTLED = "settled"


LABELS: dict[Advice, Promise] = {
    Advice.APPROVE: _("Approve"),
    Advice.LOOK: _("Look, then approve"),
    Advice.REJECTABLE: _("May be rejected"),
    Advice.PART: _("Pay in part"),
    Advice.RETURN: _("Ask to return it"),
    Advice.WAIT: _("Not ended"),
    Advice.SETTLED: _("Settled"),
}
WHY: dict[Advice, Promise] = {
    Advice.APPROVE: _("The session is complete."),
    Advice.LOOK: _("Complete, but left out of the analysis. Platforms still expect it to be paid."),
    Advice.REJECTABLE: _("Failed as many attention checks as platforms ask for a rejection."),
    Advice.PART: _("Stopped early or did not pass the screening: paid in part, never rejected."),
    Advice.RETURN: _("Ended before any answer counted."),
    Advice.WAIT: _("No code was shown yet."),
    Advice.SETTLED: _("The platform says how it ended."),
}
THANKS = _("Thank you for taking part. Your answers arrived, and your work is approved.")
MESSAGES: dict[Advice, Promise] = {
    Advice.APPROVE: THANKS,
    Advice.LOOK: THANKS,
    Advice.REJECTABLE: _(
        "Thank you for your time. During the study, some pairs checked whether both replies were "
        "read. More of them were missed than the study allows, so we cannot use your answers. "
        "Please write to us if you think that this is a mistake."
    ),
    Advice.PART: _(
        "Thank you for your time. You stopped before the end, which is fine. Please return the "
        "submission: we pay the part that you did as a bonus."
    ),
    Advice.RETURN: _(
        "Thank you for your interest. You left before the first answer, so please return the "
        "submission. This does not affect your approval rate."
    ),
}


def advice_on(
    *, state: str, way: Way | None, n_failed: int, is_excluded: bool, minutes: int
) -> Advice:
    """Return what to do about the pay of a submission; ``n_failed`` are attention checks."""
    if state != SubmissionState.ACTIVE:
        return Advice.SETTLED
    if way is None:
        return Advice.WAIT
    if way != Way.COMPLETE:
        return Advice.PART if way in PARTLY else Advice.RETURN
    if n_failed >= (1 if minutes < SHORT_MINUTES else FEWEST_FAILED):
        return Advice.REJECTABLE
    return Advice.LOOK if is_excluded else Advice.APPROVE
