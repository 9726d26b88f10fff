"""What is done, moving, failing and waiting: in one study, and over all of them."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from django.db.models import CharField, Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from annotation.apps import MORE_ALERTS
from annotation.choices import Platform, TextState
from annotation.models import Exclusion, JudgeRun, RationaleRun, RationaleScan, Study
from annotation.overview import queries
from annotation.quality import report_queries
from annotation.raters import entry_links, entry_queries
from annotation.rationales import passages
from annotation.studies import pace
from annotation.studies import queries as study_queries
from annotation.studies.counts import StudyCounts, StudyTally, numbers_of
from annotation.studies.stored_figures import StoredFigures
from completions.choices import (
    CallState,
    HoldState,
    JobState,
    MessageState,
    PauseReason,
    Review,
    RunState,
)
from completions.models import (
    Context,
    GenerationCall,
    GenerationRun,
    Hold,
    Job,
    LabellingRun,
    Message,
    Run,
)
from completions.runs.queries import run_models
from completions.runs.view_data import KINDS

NEARLY_FULL = 0.05
"""Share of the judgments by people that is left, from which a study is nearly full."""


@dataclass(frozen=True)
class Alert:
    """Something that somebody should look at, and where."""

    text: str | Promise
    url: str
    is_bad: bool = False


def study_progress(
    study: Study, shown: StoredFigures[StudyCounts], *, now: dt.datetime
) -> dict[str, Any]:
    """Return how the study stands, given its counts, in six queries and ``MORE_ALERTS``.

    ``shown`` says as of when its counts are: those of a large study come from a worker. ``left``
    is None while nobody can tell; it is for judgments by people, at the pace of people.
    ``is_moving`` says whether its numbers may change by themselves: then the page asks again.
    """
    parts, runs = _parts(study, now), _runs(study)
    counts = shown.figures or StudyCounts()
    return {
        "counts": counts,
        "shown": shown,
        "n_held": parts["held"],
        "n_leases": parts["leases"],
        "n_checks": parts["checks"],
        "left": pace.time_left(counts.slots_left + parts["leases"], counts.people),
        "spend": _spend(runs),
        "alerts": [*_alerts(study, counts, parts, runs), *_more(study)],
        "is_moving": not study.is_closed or not shown.is_current,
    }


def _parts(study: Study, now: dt.datetime) -> dict[str, int]:
    """Return counts of tables that have nothing to do with each other, in one query."""
    of_dataset = {"context__dataset": study.dataset_id}
    calls = GenerationCall.objects.filter(state=CallState.FAILED, **of_dataset)
    wanted: dict[str, QuerySet[Any]] = {
        "held": Hold.objects.filter(
            state=HoldState.HELD, completion__context__dataset=study.dataset_id
        ),
        "leases": study_queries.slots_in_hand().filter(rater__study=study),
        "failed": calls,
        "checks": queries.active_checks(study),
        "excluded": _lately_excluded(study, now),
    }
    turned_away = {
        platform: entry_queries.n_failed_arrivals(study, platform, now=now)
        for platform in entry_links.FILLED_IN
    }
    return numbers_of(study, wanted, **turned_away)


def _lately_excluded(study: Study, now: dt.datetime) -> QuerySet[Exclusion]:
    """Return of each rater who was left out in the last day, and still is, the newest decision."""
    newer = Exclusion.objects.filter(
        Q(decided_at__gt=OuterRef("decided_at"))
        | Q(decided_at=OuterRef("decided_at"), pk__gt=OuterRef("pk")),
        rater=OuterRef("rater"),
    )
    lately = Exclusion.objects.filter(rater__study=study, decided_at__gt=now - pace.DAY)
    return lately.filter(~Exists(newer), is_excluded=True)


def _runs(study: Study) -> list[Run]:
    """Return the runs about the study and its dataset, in four queries."""
    return [
        *JudgeRun.objects.filter(study=study),
        *RationaleRun.objects.filter(study=study),
        *GenerationRun.objects.filter(dataset=study.dataset_id),
        *LabellingRun.objects.filter(dataset=study.dataset_id),
    ]


def _spend(runs: list[Run]) -> dict[str, Any]:
    """Return what calls to models cost, in US dollars; no ``budget`` while a run has none."""
    budgets = [run.budget_usd for run in runs]
    return {
        "spent": sum((run.spent_usd for run in runs), Decimal()),
        "reserved": sum((run.reserved_usd for run in runs), Decimal()),
        "budget": None if None in budgets else sum((one for one in budgets if one), Decimal()),
        "n_runs": len(runs),
    }


def _more(study: Study) -> list[Alert]:
    return [alert for reader in MORE_ALERTS for alert in import_string(reader)(study)]


def _of_arrivals(study: Study, parts: dict[str, int]) -> list[Alert]:
    """Tell whose links bring nobody in, and what they have to be: people are turned away now."""
    text = _(
        "Broken links of %(platform)s in the last day: %(n)s. They have to end like this: %(link)s"
    )
    url = f"{reverse('console:study', args=[study.slug])}#links"
    return [
        Alert(text % {"platform": Platform(name).label, "n": n, "link": link}, url, is_bad=True)
        for name, link in entry_links.FILLED_IN.items()
        if (n := parts[name])
    ]


def _alerts(study: Study, tally: StudyTally, parts: dict[str, int], runs: list[Run]) -> list[Alert]:
    found = [
        *_of_arrivals(study, parts),
        *_of_reports(study),
        *_of_counts(study, parts),
        *(_of_run(run) for run in runs if run.state == RunState.PAUSED),
    ]
    left = tally.slots_left
    if study.is_open and 0 < left <= NEARLY_FULL * tally.wanted:
        text = ngettext(
            "Nearly full: %(n)s judgment by people is left.",
            "Nearly full: %(n)s judgments by people are left.",
            left,
        )
        url = f"{reverse('raters:comparisons', args=[study.slug])}?show=open"
        found.append(Alert(text % {"n": f"{left:,}"}, url))
    return found


def _of_reports(study: Study) -> list[Alert]:
    n = report_queries.n_waiting(study)
    if not n:
        return []
    text = ngettext(
        "%(n)s reported conversation waits for a decision.",
        "%(n)s reported conversations wait for a decision.",
        n,
    )
    return [
        Alert(text % {"n": f"{n:,}"}, reverse("console:reports", args=[study.slug]), is_bad=True)
    ]


def _of_counts(study: Study, parts: dict[str, int]) -> list[Alert]:
    found = []
    if n := parts["held"]:
        text = ngettext(
            "%(n)s completion is held back and waits for a decision.",
            "%(n)s completions are held back and wait for a decision.",
            n,
        )
        found.append(
            Alert(text % {"n": f"{n:,}"}, reverse("contexts:held", args=[study.dataset_slug]))
        )
    if n := parts["failed"]:
        text = ngettext(
            "%(n)s completion could not be generated.",
            "%(n)s completions could not be generated.",
            n,
        )
        url = f"{reverse('raters:coverage', args=[study.slug])}?state=failed"
        found.append(Alert(text % {"n": f"{n:,}"}, url, is_bad=True))
    if n := parts["excluded"]:
        text = ngettext(
            "%(n)s rater was left out in the last day.",
            "%(n)s raters were left out in the last day.",
            n,
        )
        url = f"{reverse('raters:list', args=[study.slug])}?standing=out"
        found.append(Alert(text % {"n": f"{n:,}"}, url))
    return found


def _of_run(run: Run) -> Alert:
    why = {
        PauseReason.ADMIN: _("somebody paused it"),
        PauseReason.BUDGET: _("the budget holds it"),
        PauseReason.REFUSED: _("a provider takes no question"),
    }[PauseReason(run.pause_reason)]
    told = {
        "kind": KINDS[run.kind],
        "n": run.pk,
        "why": f"{why}: {run.pause_detail}" if run.pause_detail else why,
    }
    is_bad = run.pause_reason != PauseReason.ADMIN
    text = _("%(kind)s, run %(n)s, stands still: %(why)s.") % told
    return Alert(text, reverse("models:run", args=[run.kind, run.pk]), is_bad)


# Over all studies and datasets.

Rows: TypeAlias = Any
"""A queryset: of which model, or of which tuples, differs."""
RECENT = dt.timedelta(days=7)
"""How long a job that failed is shown."""
FILLING = 0.9
"""The share of judgments from which on a study is about to fill."""


Need: TypeAlias = tuple[str, Alert]
"""Something that waits, and whose it is: the title of a study, or the name of a dataset."""
_WAITING: dict[str, tuple[Promise, str, str]] = {
    "messages": (
        ngettext_lazy("%(number)s text to review", "%(number)s texts to review", "n"),
        "writing:messages",
        "",
    ),
    "held": (
        ngettext_lazy("%(number)s completion held back", "%(number)s completions held back", "n"),
        "contexts:held",
        "",
    ),
    "contexts": (
        ngettext_lazy("%(number)s context to review", "%(number)s contexts to review", "n"),
        "contexts:list",
        "?review=PENDING",
    ),
    "reasons": (
        ngettext_lazy(
            "%(number)s reason to decide about", "%(number)s reasons to decide about", "n"
        ),
        "console:personal_data",
        "",
    ),
}
"""What is counted: its words, and the page and query on which it is done."""


def needs(studies: Iterable[tuple[Study, StudyTally | None]], *, now: dt.datetime) -> list[Need]:
    """Return what waits, the broken first, then studies almost or wholly full, then reviews."""
    return [*_broken(now), *_filling(studies), *_reviews()]


def _broken(now: dt.datetime) -> list[Need]:
    """Return the runs that stand still and the jobs that failed lately."""
    jobs = Job.objects.filter(state=JobState.FAILED, ended_at__gt=now - RECENT)
    found: list[Rows] = [_named(jobs, Value(""), "pk", "dataset__name")]
    for kind, model in run_models().items():
        rows = model._default_manager.filter(state=RunState.PAUSED)  # noqa: SLF001
        held = rows.exclude(pause_reason=PauseReason.ADMIN)
        of = "study__title" if hasattr(model, "study") else "dataset__name"
        found.append(_named(held, Value(kind), "pk", of))
    broken = []
    for kind, pk, whose in found[0].union(*found[1:], all=True):
        if kind:
            what = _("%(kind)s, run %(n)s, stands still") % {"kind": KINDS[kind], "n": pk}
            alert = Alert(what, reverse("models:run", args=[kind, pk]), is_bad=True)
        else:
            alert = Alert(_("A job failed"), reverse("data:job", args=[pk]), is_bad=True)
        broken.append((whose or "", alert))
    return broken


def _named(rows: Rows, kind: Value, *names: str) -> Rows:
    found: Rows = rows.order_by().values_list(kind, *names)
    return found


def _filling(studies: Iterable[tuple[Study, StudyTally | None]]) -> list[Need]:
    return [
        (
            one.title,
            Alert(
                _("About to fill") if tally.done < tally.wanted else _("Every slot is taken"),
                reverse("console:study", args=[one.slug]),
            ),
        )
        for one, tally in studies
        if tally and one.is_open and 0 < FILLING * tally.wanted <= tally.done
    ]


def _reviews() -> list[Need]:
    waiting = Message.objects.filter(state=MessageState.WAITING)
    held = Hold.objects.filter(state=HoldState.HELD)
    contexts = Context.objects.filter(review=Review.PENDING, dataset__is_for_checks=False)
    reasons = RationaleScan.objects.filter(state=TextState.WAITING, rules=passages.version())
    found = [
        _counted("messages", waiting, "lease__context__dataset", "name"),
        _counted("held", held, "completion__context__dataset", "name"),
        _counted("reasons", reasons, "judgment__comparison__study", "title"),
        _counted("contexts", contexts, "dataset", "name"),
    ]
    needs = []
    for kind, slug, whose, n in found[0].union(*found[1:], all=True):
        words, page, query = _WAITING[kind]
        url = f"{reverse(page, args=[slug])}{query}"
        needs.append((whose, Alert(str(words % {"n": n, "number": f"{n:,}"}), url)))
    return sorted(needs, key=lambda one: (one[0], one[1].url))


def _counted(kind: str, rows: Rows, of: str, name: str) -> Rows:
    """Return kind, slug, name and number of the rows of each dataset or study."""
    labelled = rows.order_by().annotate(kind=Value(kind, output_field=CharField()))
    grouped = labelled.values("kind", slug=F(f"{of}__slug"), whose=F(f"{of}__{name}"))
    counted = grouped.annotate(n=Count("pk"))
    found: Rows = counted.values_list("kind", "slug", "whose", "n")
    return found
