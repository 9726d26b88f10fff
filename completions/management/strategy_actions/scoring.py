"""``strategies score``: how well a model names strategies, by what people settled on."""

import argparse
from collections.abc import Iterator

from completions.dialogues import queries
from completions.management.actions import Action
from completions.management.progress import Progress
from completions.models import SpotCheck
from completions.strategies import spot_check_queries
from completions.strategies.rules import Scores
from completions.strategies.spot_check_queries import Ledger, Phase

COLUMNS = ("people", "model", "precision", "recall", "F1", "kappa")
WIDTH = 30


class NotSettledYetError(ValueError):
    """A model is not scored before people have settled what is right."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose spot check."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Tell the scores of the spot check that was drawn last."""
    check = spot_check_queries.newest_spot_check(queries.dataset_named(options.dataset))
    ledger = spot_check_queries.ledger_of(check)
    scores = spot_check_queries.scores_of(check, ledger)
    if scores is None:
        raise NotSettledYetError(_left(check, ledger))
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


ACTION = Action("score", "Score a model's labels.", add_arguments, run)
