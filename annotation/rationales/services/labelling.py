"""Have an assistant find the themes of rationales, and draw those whose themes people name."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.assignment import design
from annotation.choices import Purpose
from annotation.models import (
    Judgment,
    RationaleCall,
    RationaleRun,
    Study,
    ThemeCheck,
    ThemeCheckItem,
    ThemeLabel,
    ThemeLabelling,
)
from annotation.rationales import themes
from annotation.rationales.addressing import addressed_by
from completions.choices import CallState, Presence
from completions.dialogues.normaliser import plain
from completions.llm.labels import Labels, labels_schema, read_labels
from completions.models import Assistant
from completions.runs.services import asking, calling, quoted_labels, running
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import TRIES, Claim, Question
from completions.strategies.rules import Item
from completions.strategies.services.labelling import plan_of
from completions.strategies.services.spot_checking import N_ITEMS, NotLabelledYetError, draw
from completions.strategies.spot_check_queries import KINDS, CheckKind

MAX_TOKENS = 4000
TIMEOUT_S = 120.0
BATCH = 500
TELLING = frozenset({"sets-rules-aside", "speaks-to-judge", "holds-verdict", "plays-role"})
"""Ways to address a reader that are none of a rationale's own: that A is better, most say."""


def rationales_to_label(study: Study) -> QuerySet[Judgment]:
    """Return the study's newest answers to main comparisons that give a reason.

    Those of quality checks, of repeated pairs and about texts that were deleted count in no
    rating and are not paid for, nor are those of simulated raters in a study of people.
    Exclusions do not matter here: they can be taken back.
    """
    found = (
        Judgment.objects.filter(comparison__study=study, comparison__purpose=Purpose.MAIN)
        .filter(is_surplus=False, revision=None)
        .filter(lease__quality_check=None, lease__repeats=None)
        .filter(comparison__first__erased_at=None, comparison__second__erased_at=None)
        .exclude(rationale="")
    )
    return found if study.is_simulated else found.exclude(rater__is_simulated=True)


@transaction.atomic
def plan_rationale_calls(
    *, run: RationaleRun, assistant: Assistant, now: dt.datetime, most: int | None = None
) -> int:
    """Add the calls that rationales of the run's study lack; return how many were added.

    Planning again adds nothing for a judgment that the assistant was asked about with this
    codebook, whatever became of the call. Of more than ``most`` so many are drawn, by the study's
    seed.
    """
    Study.objects.select_for_update(no_key=True).get(pk=run.study_id)  # one planner at a time
    codebook = themes.load_codebook().reference
    calls = RationaleCall.objects.filter(
        judgment=OuterRef("pk"), assistant=assistant, codebook=codebook
    )
    lacking = rationales_to_label(run.study).filter(~Exists(calls))
    keys = list(lacking.order_by("pk").values_list("pk", flat=True))
    if most is not None and len(keys) > most:
        drawn = design.shuffled(map(str, keys), seed=run.study.seed, rater="rationales")
        keys = sorted(map(int, drawn[:most]))
    added = [
        RationaleCall(
            judgment_id=key, assistant=assistant, codebook=codebook, run=run, created_at=now
        )
        for key in keys
    ]
    RationaleCall.objects.bulk_create(added, batch_size=BATCH)
    return len(added)


def forget_themes(judgments: QuerySet[Judgment], *, now: dt.datetime) -> None:
    """Delete the words that labels, answers and notes quote of rationales which are deleted."""
    calls = RationaleCall.objects.filter(judgment__in=judgments)
    notes: QuerySet[ThemeLabelling] = QuerySet(ThemeLabelling)
    notes = notes.filter(item__judgment__in=judgments)
    quoted_labels.forget_quotes(calls, ThemeLabel, notes, now=now)


class RationaleCalls:
    """What a coder is asked, and what becomes of its answers."""

    def load(self, ids: Collection[int]) -> QuerySet[RationaleCall]:
        """Return these calls with their rationales."""
        return RationaleCall.objects.filter(pk__in=ids).select_related(
            "assistant", "judgment__comparison__first", "judgment__comparison__second"
        )

    def question(self, call: RationaleCall, claim: Claim) -> Question[Labels]:
        """Put the rationale by itself, in the dress that hides who dressed it."""
        codebook = themes.load_codebook(call.codebook)
        rationale = _shown(call.judgment)
        request = calling.request_to(
            call.assistant,
            messages=themes.coder_messages(rationale, codebook),
            response_schema=labels_schema(codebook.request),
            max_tokens=MAX_TOKENS,
            timeout_s=TIMEOUT_S,
        )
        read = partial(read_labels, text=rationale, request=codebook.request)
        return Question(claim, themes.coder_prompt(codebook).hash, request, read, tries=TRIES)

    def keep(self, ended: Sequence[tuple[RationaleCall, ModelAnswer[Labels]]]) -> None:
        """End each call, with a label for each theme if the answer could be read."""
        # Locked, so that whoever deletes rationales meanwhile finds the quotes of them.
        keys = [call.judgment_id for call, _ in ended]
        judgments = Judgment.objects.filter(pk__in=keys).order_by("pk")
        rationales = dict(judgments.select_for_update(no_key=True).values_list("pk", "rationale"))
        for call, heard in ended:
            own, rationale = RationaleCall.objects.filter(pk=call.pk), rationales[call.judgment_id]
            if rationale:
                quoted_labels.keep_labels(own, heard, ThemeLabel, flags=_flags(rationale))
            else:
                quoted_labels.keep_nothing(own, heard)


find_themes = partial(asking.ask_for_runs, RationaleCalls(), RationaleRun)
"""Make the waiting calls about rationales; an answer that quotes what is not there is no label."""


def _shown(judgment: Judgment) -> str:
    """Return the rationale as it is asked about, and as quotes have to stand in it.

    Raises
    ------
    TextDeletedError
        If it was deleted, or a message that it speaks of was.
    """
    if not judgment.rationale or judgment.comparison.is_erased:
        raise quoted_labels.TextDeletedError
    return plain(judgment.rationale)


def _flags(rationale: str) -> dict[str, Any]:
    """Say how a rationale addresses who reads it; for people who look at the call."""
    ways = sorted(TELLING.intersection(addressed_by(f"{rationale}\n{plain(rationale)}")))
    return {"addressed": {"rationale": ways}} if ways else {}


@transaction.atomic
def start_rationale_run(
    *,
    study: Study,
    assistant: Assistant,
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
    most: int | None = None,
) -> RationaleRun:
    """Have an assistant find the themes of rationales that it was not asked about: all, or so many.

    Raises
    ------
    UnknownPriceError, BudgetTooSmallError
        If the budget cannot be kept with this assistant, or is nothing.
    NothingToAskError
        If it was asked about every rationale; no run is added then.
    """
    codebook = themes.load_codebook()
    run = RationaleRun.objects.create(
        study=study,
        plan={"study": study.slug} | plan_of(assistant, codebook, themes.coder_prompt(codebook)),
        budget_usd=running.checked_budget(budget_usd, [assistant]),
        created_at=now,
        created_by=by,
    )
    n_added = plan_rationale_calls(run=run, assistant=assistant, now=now, most=most)
    return running.begin(run, n_added, now=now, by=by)


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
        THEMES,
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
        raise NotLabelledYetError(_("reasons still wait for %(model)s") % {"model": assistant.name})
    done = calls.filter(IS_THERE, state=CallState.DONE)
    labels = ThemeLabel.objects.filter(call__in=done, presence=Presence.PRESENT)
    found: dict[int, set[str]] = defaultdict(set)
    for judgment, theme in labels.values_list("call__judgment", "theme"):
        found[judgment].add(theme)
    rows = done.values_list(
        "judgment", "judgment__comparison__key", "judgment__rater__code", "judgment__judge__slug"
    )
    if not rows:
        raise NotLabelledYetError(
            _("%(model)s has read no reason of this study yet") % {"model": assistant.name}
        )
    return {
        pk: Item(f"{key}/{rater or judge}/{pk}", judge or PEOPLE, frozenset(found[pk]))
        for pk, key, rater, judge in rows
    }
