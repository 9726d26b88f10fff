"""Ways to break the rules of the ranking app."""

from collections.abc import Iterator
from functools import partial

from ranking.choices import FitState, PeopleKind, ReleaseState
from tests.heart_site.constraints.rules import Case, breaks, given, known, limit, once, ways
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_written_once import make_release

DONE = {"state": FitState.DONE, "ended_at": NOW}
REFUSED = {"state": FitState.REFUSED, "ended_at": NOW, "refusal": "Two groups of systems."}


INFINITE = float("inf")


def elo(name: str) -> Iterator[Case]:
    """Yield the ways to break what every rating is held to."""
    for column, value in (("elo_se", INFINITE), ("elo_low", -INFINITE), ("elo_high", INFINITE)):
        yield breaks(f"{name}_numbers_finite", column, **{column: value})
    yield limit(f"{name}_numbers_finite", "a negative error", elo_se=(-0.1, 0))
    yield from ways(
        f"{name}_interval_holds_elo",
        ({"elo": 1517}, "too high", {"elo_low": 1518}, {"elo_low": 1517}),
        ({"elo": 1517}, "too low", {"elo_high": 1516}, {"elo_high": 1517}),
    )


BUILT = {"state": ReleaseState.DONE, "ended_at": NOW, "manifest_hash": "hash"}
NOT_BUILT = {"state": ReleaseState.REFUSED, "ended_at": NOW, "refusal": "There is no fit."}
ENDED = partial(make_release, **BUILT)


CASES = [
    # Fits
    once("Fit.key", key="same"),
    once(
        "fit_once_per_inputs_and_method", "study", inputs_hash="same", but={"method_hash": "other"}
    ),
    *known("fit_pool", "fit_context_set"),
    *ways(
        "fit_ended_by_state",
        ({}, "running with a time", {"ended_at": NOW}),
        (DONE, "done without a time", {"ended_at": None}),
        (DONE, "done with a refusal", {"refusal": "no"}),
        (REFUSED, "refused without a reason", {"refusal": ""}),
        (REFUSED, "refused without a time", {"ended_at": None}),
        ({}, "of an unknown state", {"state": "OTHER"}),
    ),
    breaks("fit_published_once_ended", published_at=NOW, but=DONE),
    breaks("kept_counts_since_before_until", until=NOW - HOUR),
    # Ratings
    once("rating_once_per_fit", "fit", "system", but="system"),
    *elo("rating"),
    breaks("rating_numbers_finite", "theta", theta=INFINITE),
    limit("rating_interval_holds_rank", "too high", of={"rank": 2}, rank_low=(3, 2)),
    limit("rating_interval_holds_rank", "too low", of={"rank": 2}, rank_high=(1, 2)),
    limit("rating_interval_holds_rank", "from one", rank=(0, 1), rank_low=(0, 1)),
    limit("rating_outcomes_add_up", of={"wins": 5, "losses": 3, "ties": 1}, n_judgments=(10, 9)),
    limit("rating_tier_from_one", tier=(0, 1)),
    *(
        breaks("rating_joint_interval_holds_elo", label, elo=1517, joint_low=low, joint_high=high)
        for label, low, high in [
            ("one end alone", 1500, None),
            ("too high", 1518, 1530),
            ("too low", 1500, 1516),
            ("without end", 1500, INFINITE),
        ]
    ),
    limit(
        "rating_joint_interval_holds_elo",
        "without beginning",
        of={"elo": 1517, "joint_high": 1530},
        joint_low=(-INFINITE, 1500),
    ),
    limit("rating_sandwich_se_finite", "a negative error", sandwich_se=(-0.1, 0)),
    breaks("rating_sandwich_se_finite", "infinite", sandwich_se=INFINITE),
    once("dimensionrate_once_per_rating", "rating", but={"dimension": "E"}),
    *ways(
        "dimensionrate_wins_within_marks",
        ({"n_marks": 5}, "more wins", {"wins": 6}, {"wins": 5}),
        ({"wins": 0}, "no marks", {"n_marks": 0}, {"n_marks": 1}),
    ),
    # Ratings of people together
    once("humanrating_once_per_fit", "fit", but={"kind": PeopleKind.BEST_PLAIN}),
    *known("humanrating_kind"),
    *elo("humanrating"),
    *(
        limit("humanrating_rests_on_something", column, **{column: (0, 1)})
        for column in ("n_judgments", "n_contexts")
    ),
    # Analyses
    once("analysis_once_per_fit_and_code", "fit", but={"code_version": "numerics-2"}),
    *known("analysis_kind"),
    *ways(
        "analysis_ended_by_state",
        ({}, "running with a time", {"ended_at": NOW}),
        (DONE, "done without a time", {"ended_at": None}),
        (REFUSED, "refused without a reason", {"refusal": ""}),
    ),
    # Figures of raters
    once("Measurement.study", "study"),
    limit("measurement_seconds_positive", median_seconds=(0.0, None)),
    once("RaterFigures.rater", "rater"),
    limit("raterfigures_passed_within_checks", of={"n_passed": 3}, n_checks=(2, 3)),
    # Releases
    once("Release.key", key="same"),
    once("release_version_once", "study", of=ENDED, version=1, but={"version": 2}),
    once("release_one_under_way", "study", but=BUILT),
    breaks("release_version_from_one", version=0),
    Case(
        "release_state_known",
        partial(make_release, state="OTHER"),
        or_says="release_ended_by_state",
    ),
    breaks("release_ended_by_state", "building", ended_at=NOW),
    breaks("release_ended_by_state", "done without a hash", of=ENDED, manifest_hash=""),
    breaks("release_ended_by_state", "refused without a reason", of=NOT_BUILT, refusal=""),
    *given("release_secret_and_licence_given", "secret", "licence"),
    breaks("release_published_when_done", published_at=NOW, but=BUILT),
]
