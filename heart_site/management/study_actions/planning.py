"""Plan a study's comparisons, and say how many more judgments it needs and what they cost."""

import argparse
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from django.utils import timezone

from access.console.csv_cells import csv_lines
from annotation.choices import Protocol
from annotation.management.studies import study_named
from annotation.models import Study
from annotation.planning import queries
from annotation.planning import services as planning_services
from annotation.planning.parts import PlanSummary, StratumSummary
from annotation.planning.queries import PlanDraft
from completions.files.refusals import counted
from completions.leaks.queries import Held
from completions.management.acting import Action, Progress, RefusedError, put
from heart_site.management.study_actions import add_study
from ranking.choices import AnalysisKind
from ranking.planner import queries as planner_queries
from ranking.planner.console import DEFAULTS, Question
from ranking.planner.plans import Bill, FirstPlan, StudyPlan, plan_of
from ranking.report import services as report_services


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
        f"Written: {report.summary.n_added:,} comparisons, {report.n_held:,} completions held; "
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
        f"{counted(summary.n_pairs, 'comparison')}: {summary.n_planned:,} planned before, "
        f"{summary.n_added:,} new{_per_context(study)}"
    )
    if summary.n_short:
        yield f"too few different completions for that many: {counted(summary.n_short, 'context')}"
    if summary.n_alike:
        n_alike = counted(summary.n_alike, "pair")
        yield f"{n_alike} left out because both replies are word for word the same"
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
    head = (
        f"{stratum.name}: {counted(stratum.n_contexts, 'context')}, "
        f"{counted(stratum.n_pairs, 'comparison')}"
    )
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
        f"Held back: {counted(held.n_held, 'completion')} that may give the source away; "
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


def _add_power_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    parser.add_argument("--pool", default="people", help="people or judges")
    parser.add_argument("--elo", default=20.0, help="difference of neighbours to find, in points")
    parser.add_argument("--power", default=0.8, help="how surely to find it")
    parser.add_argument("--level", default=0.05, help="share of false findings")
    parser.add_argument(
        "--together", default="each", help="the level holds for each pair, or for all together"
    )
    parser.add_argument("--pay", help="pay of people per hour")
    parser.add_argument("--price", help="price of a judgment, in place of the pay")
    parser.add_argument("--rho", default=0.2, help="before any data: correlation of judgments")
    parser.add_argument("--csv", help="write the table of neighbours to this file")


def _power(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    study, asked = study_named(options.study), _asked(options)
    if study.protocol == Protocol.LIKERT:
        msg = "here messages are rated alone: the planner is about judgments of pairs"
        raise RefusedError(msg)
    _analyse_if_needed(study, asked)
    pilot = planner_queries.pilot_of(study, asked.evaluators)
    rates = asked.rates(study)
    kept = planner_queries.BEFORE_DATA if pilot is None else pilot.result["kept"]
    plan = plan_of(kept, asked.wish, rates)
    lines = _lines(plan, asked)
    if pilot is None:
        first = asked.first_plan(study, rates)
        if first is None:
            msg = "the dataset has no texts of two systems yet: there is nothing to plan"
            raise RefusedError(msg)
        lines = _first_lines(first, asked)
    if options.csv:
        put(map(str.encode, csv_lines(plan.rows())), Path(options.csv), is_forced=True)
    yield from lines


def _asked(options: argparse.Namespace) -> Question:
    form = Question({name: getattr(options, name) for name in DEFAULTS})
    if not form.is_valid():
        first = next(iter(form.errors.items()))
        msg = f"--{first[0]}: {' '.join(map(str, first[1]))}"
        raise RefusedError(msg)
    return form


def _analyse_if_needed(study: Study, asked: Question) -> None:
    """Look into the newest ratings here and now, unless somebody did."""
    if planner_queries.pilot_of(study, asked.evaluators) is not None:
        return
    if (fit := planner_queries.newest_fit(study, asked.evaluators)) is not None:
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PLANNING, clock=timezone.now)


def _lines(plan: StudyPlan, asked: Question) -> Iterator[str]:
    size, by = plan.size, asked.cleaned_data["pool"]
    yield (
        f"{counted(size.n_judgments, 'judgment')} by {by} on {size.n_units:,} source dialogues, "
        f"{size.per_comparison:.1f} of each comparison"
    )
    met = f"{plan.n_met} of {len(plan.pairs)} pairs of neighbours"
    yield f"{met} have enough for {asked.cleaned_data['elo']:g} Elo"
    if plan.n_met == len(plan.pairs):
        return
    if plan.same is not None:
        yield f"same comparisons: {_bill(plan.same)}; {plan.per_comparison:.1f} of each then"
    elif plan.n_limited:
        yield f"same comparisons: never; {plan.n_limited} pairs have too few source dialogues"
    else:
        yield "same comparisons: nobody knows, none was judged twice"
    if plan.new is None:
        yield "new dialogues: beyond all bounds"
    else:
        yield f"new dialogues: {plan.n_dialogues:,} more, {_bill(plan.new)}"
    for pair in plan.pairs:
        more = "never" if pair.need.is_limited else pair.judgments_more
        yield (
            f"  {pair.first} - {pair.second}: {pair.difference:.1f} (error {pair.error:.1f}), "
            f"power {pair.need.power:.0%}, judgments {more}, dialogues {pair.dialogues_more}"
        )


def _first_lines(first: FirstPlan, asked: Question) -> Iterator[str]:
    yield (
        f"before any data, {first.n_systems} systems, judgments of a comparison correlated "
        f"{asked.cleaned_data['rho']:g}: {first.n_contexts:,} contexts, {_bill(first.bill)}"
    )
    yield "a closed form under assumptions: docs/analyses.md"


def _bill(bill: Bill) -> str:
    parts = [counted(bill.n_judgments, "judgment")]
    if bill.n_people is not None:
        parts.append(counted(bill.n_people, "rater"))
    if bill.hours is not None:
        parts.append(f"{bill.hours:,.1f} hours")
    if bill.cost is not None:
        parts.append(f"cost {bill.cost:,.2f}")
    return ", ".join(parts)


POWER = Action(
    "power",
    "say how many more judgments tell neighbours apart, and what they cost",
    _add_power_arguments,
    _power,
)
