"""Draw the rationales whose themes people name, to see how well a model finds them."""

import datetime as dt
from collections import defaultdict

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import RationaleCall, Study, ThemeCheck, ThemeLabel
from annotation.rationales import checks, themes
from completions.choices import CallState, Presence
from completions.models import Assistant
from completions.strategies.rules import Item
from completions.strategies.services import NotLabelledYetError, draw
from completions.strategies.services.spot_checking import N_ITEMS

PEOPLE = "people"
"""Whose reasons those of raters are: the sample is spread evenly over them and each judge."""


@transaction.atomic
def draw_theme_sample(
    *,
    study: Study,
    assistant: Assistant,
    seed: str,
    now: dt.datetime,
    n: int = N_ITEMS,
    by: User | None = None,
) -> ThemeCheck:
    """Draw what people are to label among the rationales that the assistant has read.

    A repeated draw with the same seed returns the sample drawn before, as it is.

    Raises
    ------
    NotLabelledYetError
        If calls are still open, or none has brought themes.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # one at a time
    codebook = themes.load_codebook()
    check: ThemeCheck = draw(
        checks.THEMES,
        {"study": study, "assistant": assistant, "codebook": codebook.reference, "seed": seed},
        lambda: _candidates(study, assistant, codebook.reference),
        n=n,
        logged=("themes.sampled", "theme check", codebook.sha256),
        made={"created_at": now, "created_by": by},
    )
    return check


def _candidates(study: Study, assistant: Assistant, codebook: str) -> dict[int, Item]:
    """Return what may be drawn, by judgment."""
    calls = RationaleCall.objects.filter(
        judgment__comparison__study=study, assistant=assistant, codebook=codebook
    )
    if calls.filter(ended_at=None).exists():
        raise NotLabelledYetError(
            _("reasons still wait for %(model)s.") % {"model": assistant.name}
        )
    done = calls.filter(checks.IS_THERE, state=CallState.DONE)
    labels = ThemeLabel.objects.filter(call__in=done, presence=Presence.PRESENT)
    found: dict[int, set[str]] = defaultdict(set)
    for judgment, theme in labels.values_list("call__judgment", "theme"):
        found[judgment].add(theme)
    rows = done.values_list(
        "judgment", "judgment__comparison__key", "judgment__rater__code", "judgment__judge__slug"
    )
    if not rows:
        raise NotLabelledYetError(
            _("%(model)s has read no reason of this study yet.") % {"model": assistant.name}
        )
    return {
        pk: Item(f"{key}/{rater or judge}/{pk}", judge or PEOPLE, frozenset(found[pk]))
        for pk, key, rater, judge in rows
    }
