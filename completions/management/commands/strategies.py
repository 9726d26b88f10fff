"""Command line of strategies: a model names them, people check it, and it is scored."""

import argparse
from collections.abc import Iterator

from django.urls import reverse
from django.utils import timezone

from completions.dialogues import queries
from completions.management.acting import (
    Action,
    ActionCommand,
    Progress,
    RefusedError,
    add_dataset,
    positive,
)
from completions.management.assisting import add_assistant
from completions.management.run_actions import (
    Kind,
    actions_of,
    add_budget,
    add_no_wait,
    work_or_leave,
)
from completions.models import LabellingRun, SpotCheck
from completions.runs.queries import RunNotFoundError
from completions.runs.services import running
from completions.runs.services.budgeting import UnknownPriceError
from completions.strategies import spot_check_queries
from completions.strategies.rules import Scores
from completions.strategies.services import labelling, spot_checking
from completions.strategies.services.spot_checking import N_ITEMS
from completions.strategies.spot_check_queries import Ledger, Phase
from completions.systems.services import registering
from completions.systems.services.registering import ModelIdError

KIND = Kind("strategies", LabellingRun, labelling.name_strategies)


def _add_label_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    add_assistant(parser, "--assistant", "Who labels")
    add_budget(parser)
    add_no_wait(parser)


def label(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = labelling.start_labelling_run(
        dataset=queries.dataset_named(options.dataset),
        assistant=registering.assistant_for("strategist", options.assistant),
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} texts to label.")
    return work_or_leave(KIND, started, options, progress)


RUN = Action(
    "run", "Have an assistant label the texts that it has not.", _add_label_arguments, label
)


def _add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    add_assistant(parser, "--assistant", "Whose labels are checked")
    parser.add_argument(
        "--n", type=positive, default=N_ITEMS, help="Texts to draw; all if there are less."
    )
    parser.add_argument("--seed", default="1", help="Another seed draws another sample.")


def sample(options: argparse.Namespace, _progress: Progress) -> str:
    """Draw the sample, or find the one that was drawn with this seed before."""
    dataset = queries.dataset_named(options.dataset)
    check = spot_checking.draw_sample(
        dataset=dataset,
        assistant=registering.assistant_for("strategist", options.assistant),
        n=options.n,
        seed=options.seed,
        now=timezone.now(),
    )
    page = reverse("strategies:overview", args=[dataset.slug])
    return f"Spot check #{check.pk}: {check.items.count():,} texts to label at {page}"


SAMPLE = Action("sample", "Draw the texts that two people label.", _add_sample_arguments, sample)


COLUMNS = ("people", "model", "precision", "recall", "F1", "kappa")
WIDTH = 30


def score(options: argparse.Namespace, _progress: Progress) -> str:
    """Tell the scores of the spot check that was drawn last."""
    check = spot_check_queries.newest_spot_check(queries.dataset_named(options.dataset))
    ledger = spot_check_queries.ledger_of(check)
    scores = spot_check_queries.scores_of(check, ledger)
    if scores is None:
        raise RefusedError(_left(check, ledger))
    return "\n".join(_told(check, ledger, scores))


def _left(check: SpotCheck, ledger: Ledger) -> str:
    if ledger.phase == Phase.SETTLING:
        return f"spot check #{check.pk}: {len(ledger.unsettled):,} texts are to be settled first"
    n = len(ledger.positions)
    done = [ledger.n_labelled(pk) for pk in ledger.people]
    missing = n * spot_check_queries.N_LABELLERS - sum(done)
    return f"spot check #{check.pk}: {missing:,} labellings of {n:,} texts are missing"


def _told(check: SpotCheck, ledger: Ledger, scores: Scores) -> Iterator[str]:
    """Yield what was scored, a line for each strategy, and the mean."""
    name = check.assistant.name
    if check.assistant.is_simulated:
        name += " (simulated: these scores mean nothing)"
    yield f"Spot check #{check.pk}: {name} on {scores.n_items:,} texts, codebook {check.codebook}"
    yield f"Two people differed on {len(ledger.differing):,} of them; all is settled."
    yield _row("", COLUMNS)
    for one in scores.labels:
        shown = map(_figure, (one.precision, one.recall, one.f1, one.kappa))
        yield _row(one.strategy, (str(one.n_settled), str(one.n_model), *shown))
    interval = ""
    if scores.interval is not None:
        low, high = scores.interval
        interval = f" (95 % interval {low:.3f} to {high:.3f})"
    mean = "none" if scores.macro_f1 is None else f"{scores.macro_f1:.3f}"
    over = f"over {scores.n_scored} strategies"
    kappa = f"kappa between the two people {_figure(scores.kappa)}"
    yield f"macro-F1 {mean}{interval}, {over}; {kappa}"


def _row(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:<{WIDTH}}" + "".join(f"{cell:>11}" for cell in cells)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


SCORE = Action("score", "Score a model's labels.", add_dataset, score)
ACTIONS = (RUN, SAMPLE, SCORE, *actions_of(KIND))


class Command(ActionCommand):
    """Have texts labelled by strategy, draw a sample for people, and score the labels."""

    help = "Have a model name the strategies of texts, and score it by people's labels."
    actions = ACTIONS
    refusals = (
        queries.DatasetNotFoundError,
        running.BudgetTooSmallError,
        spot_checking.NotLabelledYetError,
        running.NothingToAskError,
        running.RunStateError,
        UnknownPriceError,
        spot_check_queries.NoSpotCheckError,
        ModelIdError,
        RunNotFoundError,
    )
