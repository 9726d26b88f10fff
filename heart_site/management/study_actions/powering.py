"""Say how many more judgments a study needs, and what they cost."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from django.utils import timezone

from access.console.csv_cells import csv_lines
from annotation.choices import Protocol
from annotation.management.studies import study_named
from annotation.models import Study
from completions.management.acting import Action, RefusedError
from completions.management.progress import Progress
from heart_site.management.study_actions import add_study
from ranking.choices import AnalysisKind
from ranking.planner import queries
from ranking.planner.console import DEFAULTS, PlannerRequest, Question
from ranking.planner.plans import Bill, FirstPlan, StudyPlan, first_plan, plan_of
from ranking.report import services

FEWEST_SYSTEMS = 2


def _add_arguments(parser: argparse.ArgumentParser) -> None:
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
    pilot = queries.pilot_of(study, asked.evaluators)
    rates = asked.rates(queries.measured(study))
    if pilot is None:
        layout = queries.layout_of(study)
        if layout.n_systems < FEWEST_SYSTEMS:
            msg = "the dataset has no texts of two systems yet: there is nothing to plan"
            raise RefusedError(msg)
        first = first_plan(layout, asked.wish, rates, correlation=asked.rho)
        lines = _first_lines(first, asked)
    else:
        plan = plan_of(pilot.kept, asked.wish, rates)
        lines = _lines(plan, asked)
        if options.csv:
            text = "".join(csv_lines(plan.rows()))
            Path(options.csv).write_text(text, encoding="utf-8", newline="")
    yield from lines


def _asked(options: argparse.Namespace) -> PlannerRequest:
    form = Question({name: getattr(options, name) for name in DEFAULTS})
    if not form.is_valid():
        first = next(iter(form.errors.items()))
        msg = f"--{first[0]}: {' '.join(map(str, first[1]))}"
        raise RefusedError(msg)
    return form.asked()


def _analyse_if_needed(study: Study, request: PlannerRequest) -> None:
    """Look into the newest ratings here and now, unless somebody did."""
    if queries.pilot_of(study, request.evaluators) is not None:
        return
    if (fit := queries.newest_fit(study, request.evaluators)) is not None:
        services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PLANNING, clock=timezone.now)


def _lines(plan: StudyPlan, request: PlannerRequest) -> Iterator[str]:
    size = plan.size
    yield (
        f"{size.n_judgments:,} judgments by {request.pool} on {size.n_units:,} source dialogues, "
        f"{size.per_comparison:.1f} of each comparison"
    )
    met = f"{plan.n_met} of {len(plan.pairs)} pairs of neighbours"
    yield f"{met} have enough for {request.elo:g} Elo"
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


def _first_lines(first: FirstPlan, request: PlannerRequest) -> Iterator[str]:
    yield (
        f"before any data, {first.n_systems} systems, judgments of a comparison correlated "
        f"{request.rho:g}: {first.n_contexts:,} contexts, {_bill(first.bill)}"
    )
    yield "a closed form under assumptions: docs/analyses.md"


def _bill(bill: Bill) -> str:
    parts = [f"{bill.n_judgments:,} judgments"]
    if bill.n_people is not None:
        parts.append(f"{bill.n_people:,} raters")
    if bill.hours is not None:
        parts.append(f"{bill.hours:,.1f} hours")
    if bill.cost is not None:
        parts.append(f"cost {bill.cost:,.2f}")
    return ", ".join(parts)


POWER = Action(
    "power",
    "say how many more judgments tell neighbours apart, and what they cost",
    _add_arguments,
    _power,
)
