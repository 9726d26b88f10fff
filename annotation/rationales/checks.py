"""Samples of rationales whose themes two people name, and how such a sample works."""

from django.db.models import Q

from annotation.models import ThemeCheck, ThemeCheckItem, ThemeLabel, ThemeLabelling
from annotation.rationales import themes
from completions.dialogues.normaliser import plain
from completions.strategies.kinds import KINDS, CheckKind

IS_THERE = (
    ~Q(judgment__rationale="")
    & Q(judgment__comparison__first__erased_at=None)
    & Q(judgment__comparison__second__erased_at=None)
)
THEMES = CheckKind(
    samples=ThemeCheck,
    items=ThemeCheckItem,
    labellings=ThemeLabelling,
    subject="judgment",
    related=("judgment",),
    is_there=IS_THERE,
    meanings=lambda codebook: themes.load_codebook(codebook).themes,
    labels=ThemeLabel,
    text=lambda item: plain(item.judgment.rationale),
    asked_by=lambda codebook: Q(call__codebook=codebook),
)
KINDS[ThemeCheck] = THEMES
