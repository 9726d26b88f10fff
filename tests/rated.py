"""Fits with ratings as pages of results show them, without computing any."""

from collections.abc import Sequence
from typing import Any

from annotation.choices import StudyState
from annotation.models import Study
from completions.models import System
from ranking.choices import FitState
from ranking.models import Fit
from tests.factories import NOW, make_study, make_system
from tests.factories_written_once import make_fit, make_rating

METHOD = {"slightly": 2, "much": 4, "replicates": 100, "seed": 7, "strength": "soft"}
DIAGNOSTICS = {
    "stamp": "0:0:0",
    "n_raters": 1,
    "judges": [],
    "has_simulated_evaluators": False,
}


def close(study: Study) -> Study:
    """Close a study, so that everybody may read its results."""
    study.state = StudyState.CLOSED
    study.save(update_fields=["state"])
    return study


def make_rated_fit(
    systems: Sequence[System] = (), *, study: Study | None = None, **fields: Any
) -> Fit:
    """A published fit that rates the systems, the first highest, each in its own tier."""
    known = {"diagnostics": DIAGNOSTICS, "method": METHOD, "state": FitState.DONE}
    ended = {"as_of": NOW, "ended_at": fields.get("as_of", NOW), "published_at": NOW}
    fit = make_fit(study=study or make_study(), **known | ended | fields)
    for place, system in enumerate(systems or [make_system() for _ in range(2)]):
        make_rated_system(fit, system, elo=1540.0 - 40.0 * place, rank=place + 1)
    return fit


def make_rated_system(fit: Fit, system: System, *, elo: float, rank: int, **fields: Any) -> None:
    """A rating with all that new fits have."""
    ends = {
        "elo_low": elo - 20,
        "elo_high": elo + 20,
        "joint_low": elo - 30,
        "joint_high": elo + 30,
    }
    ranks = {"rank": rank, "rank_low": max(1, rank - 1), "rank_high": rank + 1, "tier": rank}
    errors = {"elo_se": 10.0, "sandwich_se": 9.0}
    make_rating(fit=fit, system=system, elo=elo, **ends | ranks | errors | fields)
