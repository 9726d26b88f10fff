"""Samples of rationales whose themes two people name, and how such a sample works."""

from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet

from annotation.models import Study, ThemeCheck, ThemeCheckItem, ThemeLabel, ThemeLabelling
from annotation.rationales import themes
from completions.dialogues.normaliser import plain
from completions.strategies.kinds import KINDS, CheckKind, LabelMeaning
from completions.strategies.spot_check_queries import N_LABELLERS

IS_THERE = (
    ~Q(judgment__rationale="")
    & Q(judgment__comparison__first__erased_at=None)
    & Q(judgment__comparison__second__erased_at=None)
)


def _meanings(codebook: str) -> Iterable[LabelMeaning]:
    return (
        LabelMeaning(one.key, one.name, one.means, one.counterexamples[0])
        for one in themes.load_codebook(codebook).themes
    )


THEMES = CheckKind(
    labellings=ThemeLabelling,
    subject="judgment",
    related=("judgment",),
    is_there=IS_THERE,
    meanings=_meanings,
    labels=ThemeLabel,
    label_key="theme",
    text=lambda item: plain(item.judgment.rationale),
)
KINDS[ThemeCheck] = THEMES


def theme_checks(study: Study) -> list[ThemeCheck]:
    """Return the study's samples, the newest first."""
    return list(study.theme_checks.select_related("assistant").order_by("-pk"))


def being_labelled() -> QuerySet[ThemeCheckItem, int]:
    """Return the judgments, by key, of which nobody may learn yet which themes others found."""
    people = Count(
        "labellings__labeller", filter=Q(labellings__is_adjudication=False), distinct=True
    )
    items = ThemeCheckItem.objects.filter(IS_THERE).annotate(n_people=people)
    waiting = items.filter(n_people__lt=N_LABELLERS).values("spot_check")
    return ThemeCheckItem.objects.filter(spot_check__in=waiting).values_list(
        "judgment_id", flat=True
    )
