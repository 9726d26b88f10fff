"""Plan a study's comparisons: the report first, then, when told so, the rows."""

import argparse
import sys
from collections.abc import Collection, Iterator

from django.utils import timezone

from annotation.management.studies import study_named
from annotation.models import Study
from annotation.planning import queries
from annotation.planning import services as planning_services
from annotation.planning.pairing.parts import PlanSummary, StratumSummary
from annotation.planning.queries import PlanDraft
from completions.leaks.queries import Held
from completions.management.acting import Action, RefusedError
from completions.management.progress import Progress
from heart_site.management.study_actions import add_study


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--dry-run", action="store_true", help="print the report, write nothing")
    how.add_argument("--yes", action="store_true", help="write without asking")


def _plan(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    study = study_named(options.study)
    draft = queries.draft_plan(study)
    yield from report_lines(study, draft)
    if options.dry_run:
        yield "Dry run: nothing was written."
        return
    if not options.yes:
        _ask(draft)
    report = planning_services.plan_study(study=study, now=timezone.now())
    yield (
        f"Written: {report.n_added:,} comparisons, {report.n_held:,} completions held; "
        f"{report.n_checks:,} quality checks are planted."
    )


def _ask(draft: PlanDraft) -> None:
    """Ask whether to write; without a terminal to ask at, refuse."""
    if not sys.stdin.isatty():
        msg = "nothing was written: add --yes to write the plan, or --dry-run to only look at it"
        raise RefusedError(msg)
    answer = input(f"Write {len(draft.additions):,} comparisons? [y/N] ")
    if answer.strip().lower() not in {"y", "yes"}:
        msg = "nothing was written"
        raise RefusedError(msg)


def report_lines(study: Study, draft: PlanDraft) -> Iterator[str]:
    """Yield the report on a plan, line by line."""
    summary = draft.summary
    yield f"{study.slug}: {study.get_plan_display()}"
    if absent := queries.absent_systems(study):
        yield f"Without a completion, and so in no pair: {', '.join(absent)}"
    yield (
        f"{summary.n_pairs:,} comparisons: {summary.n_planned:,} planned before, "
        f"{summary.n_added:,} new{_per_context(study)}"
    )
    if summary.n_short:
        yield f"{summary.n_short:,} contexts have too few different completions for that many"
    if summary.n_alike:
        yield (
            f"{summary.n_alike:,} pairs left out because both replies are word for word the same"
        )
    yield from _systems(summary)
    for stratum in summary.strata:
        yield from _stratum(stratum)
    yield from _held(draft.held, draft.n_held_compared)


def _per_context(study: Study) -> str:
    n = study.pairs_per_context
    return f", {n} in each context" if n else ""


def _systems(summary: PlanSummary) -> Iterator[str]:
    """Yield the appearances of each system and, as a triangle, of each pair of systems."""
    counts = list(summary.appearances.values())
    if not counts:
        return
    yield f"Systems appear {_range(counts)} times"
    if summary.pairs:
        yield f"Pairs of systems are met {_range(summary.pairs.values())} times"
    rows = summary.triangle
    width = max(len(row.system) for row in rows)
    cell = max(2, *(len(str(n)) for n in [*summary.pairs.values(), len(rows)])) + 1
    heads = "".join(f"{row.number:{cell}}" for row in rows[:-1]) if summary.pairs else ""
    yield f"      {'':{width}} {'in':>6} {heads}".rstrip()
    for row in rows:
        cells = "".join(f"{n:{cell}}" for n in row.met)
        yield f"  {row.number:3} {row.system:{width}} {row.n:6,} {cells}".rstrip()


def _range(counts: Collection[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _stratum(stratum: StratumSummary) -> Iterator[str]:
    head = f"{stratum.name}: {stratum.n_contexts:,} contexts, {stratum.n_pairs:,} comparisons"
    if stratum.is_connected:
        yield f"{head}, connected"
        return
    reason = (
        "no pair of its contexts would connect them"
        if len(stratum.possible) > 1
        else "there are too few pairs to connect them"
    )
    yield f"{head}, NOT CONNECTED: {len(stratum.groups)} groups of systems, {reason}"
    for group in stratum.groups:
        yield f"  {', '.join(group)}"


def _held(held: Held, n_compared: int) -> Iterator[str]:
    yield (
        f"Held back: {held.n_held:,} completions that seem to give their source away; "
        f"{held.n_dropped:,} dropped, {held.n_released:,} released"
    )
    for reason, n in held.by_reason.items():
        yield f"  {reason}: {n:,}"
    if n_compared:
        yield f"{n_compared:,} comparisons made before show a held or dropped one; they stay"


PLAN = Action(
    "plan",
    "report what a study's plan comes to, then write its comparisons and checks",
    _add_arguments,
    _plan,
)
