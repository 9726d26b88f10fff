"""Reads about what raters report, and how the console shows it."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.choices import ReportKind, ReportOutcome
from annotation.models import Report, ReportAlert, ReportDecision, Study
from annotation.studies.selectors import shown_text
from completions.dialogues.display import DialogueView
from completions.models import Context


@dataclass(frozen=True)
class ReportRow:
    """What one rater said, and which messages were on the screen with the dialogue."""

    who: str
    is_simulated: bool
    kind_label: str
    text: str
    at: dt.datetime
    messages: tuple[str, ...]
    is_open: bool
    """Whether it came after the last decision."""


@dataclass(frozen=True)
class DecisionRow:
    """What somebody decided about a dialogue."""

    who: str
    outcome_label: str
    reason: str
    at: dt.datetime


@dataclass(frozen=True)
class ReportedDialogue:
    """A dialogue with its reports and decisions, the newest of each first."""

    key: str
    dialogue: DialogueView
    is_held: bool
    is_dropped: bool
    reports: tuple[ReportRow, ...]
    decisions: tuple[DecisionRow, ...]

    @property
    def n_open(self) -> int:
        """How many reports nobody has decided about."""
        return sum(report.is_open for report in self.reports)


@dataclass(frozen=True)
class Waiting:
    """A study in which reported dialogues wait for a decision."""

    slug: str
    title: str
    n_dialogues: int


@dataclass(frozen=True)
class AlertState:
    """How the e-mails about the study's reports stand."""

    n_waiting: int
    error: str


def newest_decision(study: Study, context: Context) -> ReportDecision | None:
    """Return what was decided last about a reported context of the study, or None."""
    decisions = ReportDecision.objects.filter(study=study, context=context)
    return decisions.order_by("-decided_at", "-pk").first()


def open_reports(study: Study, context: Context) -> QuerySet[Report]:
    """Return the reports of the context by the study's raters that nobody has decided about."""
    reports = Report.objects.filter(rater__study=study, context=context)
    decision = newest_decision(study, context)
    return reports.filter(reported_at__gt=decision.decided_at) if decision else reports


def held_contexts(study: Study) -> QuerySet[Context]:
    """Return the contexts that reports keep from the study's raters.

    A comparison that was held when a text of it was deleted, and not before, is no sign of it.
    """
    by_deletion = Q(first__erased_at__lte=F("held_at")) | Q(second__erased_at__lte=F("held_at"))
    held = study.comparisons.filter(held_at__isnull=False).exclude(by_deletion)
    return Context.objects.filter(pk__in=held.values("context"))


def reported_context(study: Study, key: str) -> Context | None:
    """Return the context of that name if a rater of the study reported it, or None."""
    reports = Report.objects.filter(rater__study=study)
    return Context.objects.filter(pk__in=reports.values("context"), key=key).first()


def alert_state(study: Study) -> AlertState:
    """Return how many alerts of the study wait to be sent, and the last error, in one query."""
    waiting = ReportAlert.objects.filter(report__rater__study=study, sent_at=None)
    errors = list(waiting.order_by("-claimed_at", "-pk").values_list("error", flat=True))
    return AlertState(len(errors), next(filter(None, errors), ""))


def waiting_studies() -> list[Waiting]:
    """Return the studies in which reports wait for a decision, by title, in one query."""
    rows = (
        _undecided()
        .order_by("rater__study__title", "rater__study")
        .values_list("rater__study__slug", "rater__study__title")
        .annotate(n=Count("context", distinct=True))
    )
    return [Waiting(*row) for row in rows]


def n_waiting(study: Study) -> int:
    """Return how many dialogues of the study wait for a decision, in one query."""
    found = _undecided().filter(rater__study=study)
    return found.aggregate(n=Count("context", distinct=True))["n"] or 0


def _undecided() -> QuerySet[Report]:
    """Return reports that came after the last decision about their dialogue."""
    decisions = ReportDecision.objects.filter(
        study=OuterRef("rater__study"), context=OuterRef("context")
    )
    return Report.objects.filter(~Exists(decisions.filter(decided_at__gte=OuterRef("reported_at"))))


def reported_dialogues(study: Study) -> list[ReportedDialogue]:
    """Return every reported dialogue of the study in three queries: undecided ones first."""
    reports = defaultdict[Context, list[Report]](list)
    shown = ("rater", "context", "lease__comparison__first", "lease__comparison__second")
    rows = Report.objects.filter(rater__study=study).select_related(*shown)
    for report in rows.order_by("-reported_at", "-pk"):
        reports[report.context].append(report)
    decisions = defaultdict[int, list[ReportDecision]](list)
    decided = ReportDecision.objects.filter(study=study).select_related("decided_by")
    for decision in decided.order_by("-decided_at", "-pk"):
        decisions[decision.context_id].append(decision)
    held = set(held_contexts(study).values_list("pk", flat=True))
    dialogues = [
        _dialogue(context, found, decisions[context.pk], is_held=context.pk in held)
        for context, found in reports.items()
    ]
    return sorted(dialogues, key=lambda one: one.n_open == 0)  # stable: the newest stay in front


def _dialogue(
    context: Context,
    reports: Sequence[Report],
    decisions: Sequence[ReportDecision],
    *,
    is_held: bool,
) -> ReportedDialogue:
    last = decisions[0] if decisions else None
    return ReportedDialogue(
        key=context.key,
        dialogue=DialogueView.of(context.turns, is_simulated=context.is_simulated),
        is_held=is_held,
        is_dropped=last is not None and last.outcome == ReportOutcome.DROPPED,
        reports=tuple(_report(report, last) for report in reports),
        decisions=tuple(map(_decision, decisions)),
    )


def _report(report: Report, last: ReportDecision | None) -> ReportRow:
    return ReportRow(
        who=report.rater.code,
        is_simulated=report.rater.is_simulated,
        kind_label=ReportKind(report.kind).label,
        text=report.text,
        at=report.reported_at,
        messages=tuple(map(shown_text, report.lease.comparison.completions)),
        is_open=last is None or report.reported_at > last.decided_at,
    )


def _decision(decision: ReportDecision) -> DecisionRow:
    by = decision.decided_by
    return DecisionRow(
        who=by.get_username() if by else _("a command"),
        outcome_label=ReportOutcome(decision.outcome).label,
        reason=decision.reason,
        at=decision.decided_at,
    )
