"""Real judgments whose Bradley-Terry fit was computed by code independent of this project."""

import csv

import numpy as np
import pytest

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.helpers.datasets import shared_file

OUTCOMES = {"a": 1, "b": -1, "tie": 0}
PUBLISHED_TOP = [
    "GPT 4",
    "Platypus-2 Instruct (70B)",
    "command",
    "ReMM SLERP L2 13B",
    "LLaMA-2-Chat (70B)",
]


def read(name):
    with shared_file(f"replay/{name}").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def human_tables(name, systems):
    """Tabulate people's judgments per context, with ties as half a win to each side."""
    rows = [row for row in read(f"{name}/judgments.csv") if row["judge_kind"] == "human"]
    place = {system: index for index, system in enumerate(systems)}
    units = sorted({row["context_id"] for row in rows})
    split = shares(np.array([OUTCOMES[row["winner"]] for row in rows]), StrengthMode.IGNORE)
    pairs = WeightedPairs(
        np.array([units.index(row["context_id"]) for row in rows]),
        np.array([place[row["system_a"]] for row in rows]),
        np.array([place[row["system_b"]] for row in rows]),
        split.first,
        split.second,
    )
    return tabulate(pairs, n_units=len(units), n_systems=len(systems))


@pytest.mark.parametrize("name", ["llmfao", "pandalm"])
def test_the_replayed_fit_equals_the_reference(name):
    reference = read(f"{name}/reference_bt.csv")
    wins = human_tables(name, [row[""] for row in reference]).total()

    fit = fit_bradley_terry(wins)

    theta = [float(row["theta"]) for row in reference]
    elo = [float(row["elo"]) for row in reference]
    rates = [float(row["winrate_half_ties"]) for row in reference]
    np.testing.assert_allclose(fit.log_strengths, theta, rtol=0, atol=1e-6)
    np.testing.assert_allclose(to_elo(fit.log_strengths), elo, rtol=0, atol=2e-4)
    np.testing.assert_allclose(wins.sum(axis=1) / (wins + wins.T).sum(axis=1), rates, atol=1e-12)


def test_the_best_systems_of_llmfao_come_out_on_top():
    systems = sorted(row[""] for row in read("llmfao/reference_bt.csv"))

    theta = fit_bradley_terry(human_tables("llmfao", systems).total()).log_strengths

    assert [systems[index] for index in np.argsort(-theta)[:5]] == PUBLISHED_TOP
