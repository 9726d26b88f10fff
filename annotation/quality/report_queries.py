"""Reads about what raters report, and how the console shows it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.choices import ReportOutcome
from annotation.models import Report, ReportAlert, ReportDecision, Study
from annotation.studies.queries import shown_text
from completions.dialogues.display import DialogueView
from completions.models import Context


@dataclass(frozen=True)
class ReportedDialogue:
    """A dialogue with its reports and decisions, the newest of each first."""

    context: Context
    is_held: bool
    reports: Sequence[Report]
    decisions: Sequence[ReportDecision]

    @property
    def view(self) -> DialogueView:
        """The dialogue as pages show it."""
        return DialogueView.of(self.context.turns, is_simulated=self.context.is_simulated)

    @property
    def is_dropped(self) -> bool:
        """Whether it was decided last that nobody is to see it any more."""
        return bool(self.decisions) and self.decisions[0].outcome == ReportOutcome.DROPPED

    @property
    def rows(self) -> list[tuple[Report, list[str], bool]]:
        """The reports, the messages on the screen with each, and whether it is still open."""
        return [
            (one, list(map(shown_text, one.lease.comparison.completions)), self._is_open(one))
            for one in self.reports
        ]

    @property
    def n_open(self) -> int:
        """How many reports nobody has decided about."""
        return sum(map(self._is_open, self.reports))

    def _is_open(self, report: Report) -> bool:
        """Say whether it came after the last decision."""
        return not self.decisions or report.reported_at > self.decisions[0].decided_at


def open_reports(study: Study, context: Context) -> QuerySet[Report]:
    """Return the reports of the context by the study's raters that nobody has decided about."""
    return _undecided().filter(rater__study=study, context=context)


def held_contexts(study: Study) -> QuerySet[Context]:
    """Return the contexts that reports keep from the study's raters.

    A comparison that was held when a text of it was deleted, and not before, is no sign of it.
    """
    by_deletion = Q(first__erased_at__lte=F("held_at")) | Q(second__erased_at__lte=F("held_at"))
    held = study.comparisons.filter(held_at__isnull=False).exclude(by_deletion)
    return Context.objects.filter(pk__in=held.values("context"))


def may_hold_more(study: Study) -> bool:
    """Say whether reports alone may hold one more context: of four one, and always one.

    Whoever clears their cookies reports again as somebody new, and could hold up a whole study.
    """
    waiting = _undecided().filter(rater__study=study).values("context")
    n_all = study.comparisons.values("context").distinct().count()
    return held_contexts(study).filter(pk__in=waiting).count() < max(1, n_all // 4)


def reported_context(study: Study, key: str) -> Context | None:
    """Return the context of that name if a rater of the study reported it, or None."""
    reports = Report.objects.filter(rater__study=study)
    return Context.objects.filter(pk__in=reports.values("context"), key=key).first()


def alert_error(study: Study) -> str:
    """Return the last error of the study's alerts that wait to be sent, in one query."""
    waiting = ReportAlert.objects.filter(report__rater__study=study, sent_at=None)
    failed = waiting.exclude(error="").order_by("-claimed_at", "-pk")
    return failed.values_list("error", flat=True).first() or ""


def waiting_studies() -> list[Mapping[str, object]]:
    """Return where reports wait for a decision, by title: slug, title, n_dialogues; one query."""
    rows = _undecided().order_by("rater__study__title", "rater__study")
    found = rows.values(slug=F("rater__study__slug"), title=F("rater__study__title"))
    return list(found.annotate(n_dialogues=Count("context", distinct=True)))


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
        ReportedDialogue(context, context.pk in held, found, decisions[context.pk])
        for context, found in reports.items()
    ]
    return sorted(dialogues, key=lambda one: one.n_open == 0)  # stable: the newest stay in front
