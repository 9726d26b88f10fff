"""What is planted in the simulated study: who writes how well, who judges how.

Each of the published systems serves a dimension well in as large a share of its messages as the
paper prints on that dimension. The rest of a strength, natural logs as everywhere, makes up its
printed win rate. The constants below were chosen so that an ideal study (`expecting`) comes near
the published agreement, ties and spread.
"""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from completions.offline.planted import DIMENSIONS, PlantedJudge, PlantedWriter, parts_done_well
from completions.systems.catalogue import load_catalogues, shipped
from heart_site.demo.rehearsal.people import SHARES, Crowd

LEADERBOARD = Path(__file__).parent / "leaderboard.csv"
BEST_HUMAN, ORIGINAL = "Best Human", "Original dataset"
HUMAN_SLUG, ORIGINAL_SLUG = "simulated-human", "original-dataset"

TEXTS_PER_CONTEXT = 3
"""Messages by people."""
PART = 0.65
"""What a dimension served well adds to the strength of a message."""
PER_LOGIT = 0.78
"""Strength by which a system differs for each logit of its printed win rate."""
BEST_OF_THREE = 0.62
"""By how much the best of three messages by people is better than their mean."""
MS_PER_PRINTED = 0.02
"""Of the printed milliseconds to the first token, what the offline provider waits."""

UNPRINTED_TTFT_MS: Mapping[str, float] = {
    "Claude 4.5 Haiku": 8000,
    "Kimi K2": 6000,
    "GPT-4.1 mini": 3000,
    "GPT-4o": 900,
    "Gemini 3 Pro Preview": 1800,
    "Llama 4 Maverick": 350,
    "Gemini 2.5 Flash": 450,
    "Llama 3.1 405B": 500,
    "Llama 3.1 70B": 300,
}
"""Times to the first token of models of which the paper prints none: better ones are slower."""

CROWD = Crowd(
    taste=0.21,
    slip=0.15,
    same=0.35,
    much=2.05,
    first=0.08,
    longer=0.3,
    severity=0.15,
    fatigue=0.2,
    shares=SHARES,
)
JUDGES: Mapping[str, PlantedJudge] = {
    "openai": PlantedJudge("oak", noise=0.3, first=0.15, longer=0.5),
    "anthropic": PlantedJudge("ash", noise=0.25, first=0.1, longer=0.5),
    "google": PlantedJudge("elm", noise=0.35, first=0.3, longer=0.5),
}
"""The simulated judge of each family; it is never asked about that family's messages."""
JUDGE_NAMES = {"openai": "GPT", "anthropic": "Claude", "google": "Gemini"}


@dataclass(frozen=True)
class Published:
    """A row of the published leaderboard; shares are from 0 to 1, times in milliseconds."""

    name: str
    kind: str
    shares: Mapping[str, float]
    win_rate: float
    elo: float
    intelligence_index: float | None
    ttft_ms: float | None


@dataclass(frozen=True)
class PlantedSystem:
    """A simulated system: what it is called, and what is planted in its messages."""

    slug: str
    family: str
    published: Published

    @property
    def name(self) -> str:
        """Return what it is called on pages."""
        return f"Simulated {self.published.name}"

    @property
    def strength(self) -> float:
        """Return the mean strength of its messages."""
        return strength_of(self.published)

    @property
    def model_id(self) -> str:
        """Return the model of the offline provider that writes so."""
        latency_s = MS_PER_PRINTED * self.ttft_ms / 1000
        return f"hosted_vllm/{PlantedWriter(self.published.shares, latency_s).name}"

    @property
    def ttft_ms(self) -> float:
        """Return the planted time to the first token, before it is shortened."""
        printed = self.published.ttft_ms
        return UNPRINTED_TTFT_MS[self.published.name] if printed is None else printed

    @property
    def facts(self) -> dict[str, dict[str, object]]:
        """Return what the paper prints of the system beside its scores."""
        index = self.published.intelligence_index
        source = "HEART, arXiv 2601.19922v2; of the model imitated"
        return {} if index is None else {"intelligence_index": {"value": index, "source": source}}


@cache
def leaderboard() -> tuple[Published, ...]:
    """Return the published leaderboard, the best first."""
    with LEADERBOARD.open(encoding="utf-8", newline="") as file:
        return tuple(_published(row) for row in csv.DictReader(file))


def _published(row: Mapping[str, str]) -> Published:
    return Published(
        name=row["system"],
        kind=row["kind"],
        shares={key: float(row[key]) / 100 for key in DIMENSIONS},
        win_rate=float(row["win_rate_pct"]) / 100,
        elo=float(row["elo"]),
        intelligence_index=float(row["aa_index"]) if row["aa_index"] else None,
        ttft_ms=float(row["median_ttft_ms"]) if row["median_ttft_ms"] else None,
    )


def row_of(name: str) -> Published:
    """Return the row of that name."""
    return next(row for row in leaderboard() if row.name == name)


@cache
def models() -> tuple[PlantedSystem, ...]:
    """Return the simulated systems, one for each model of the leaderboard."""
    known = {entry.name: entry for entry in load_catalogues(shipped()).system}
    return tuple(
        PlantedSystem(f"simulated-{known[row.name].slug}", known[row.name].family or "", row)
        for row in leaderboard()
        if row.kind == "model"
    )


@cache
def _models_by_slug() -> dict[str, PlantedSystem]:
    return {one.slug: one for one in models()}


def strength_of(row: Published) -> float:
    """Return the strength that is planted for a printed win rate."""
    return PER_LOGIT * math.log(row.win_rate / (1 - row.win_rate))


@cache
def human_shares() -> dict[str, float]:
    """Return how often the simulated writers serve each dimension well.

    The best of three is printed; so that it comes near it, each is a little below.
    """
    below = BEST_OF_THREE / PART / len(DIMENSIONS)
    return {key: share - below for key, share in row_of(BEST_HUMAN).shares.items()}


def shares_of(slug: str) -> Mapping[str, float]:
    """Return how often a model or the people serve each dimension well."""
    model = _models_by_slug().get(slug)
    return human_shares() if model is None else model.published.shares


def family_of(slug: str) -> str:
    """Return the maker of a model, nothing for people."""
    model = _models_by_slug().get(slug)
    return "" if model is None else model.family


@cache
def strengths() -> dict[str, float]:
    """Return the planted strength of every system of the study, by slug."""
    people = strength_of(row_of(BEST_HUMAN)) - BEST_OF_THREE
    of_models = {system.slug: system.strength for system in models()}
    return of_models | {HUMAN_SLUG: people, ORIGINAL_SLUG: strength_of(row_of(ORIGINAL))}


def lift(text: str, system: str) -> float:
    """Return by how much a message is better than the mean of its system, by its parts."""
    return PART * (len(parts_done_well(text)) - _mean_parts()[system])


@cache
def _mean_parts() -> dict[str, float]:
    means = {system.slug: sum(system.published.shares.values()) for system in models()}
    return means | {HUMAN_SLUG: sum(human_shares().values()), ORIGINAL_SLUG: 0.0}
