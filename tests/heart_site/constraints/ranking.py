"""Ways to break the rules of the ranking app."""

from functools import partial

from ranking.choices import FitState, PeopleKind, ReleaseState
from tests.heart_site.constraints.rules import Case, breaks, limit, once, twice, ways
from tests.helpers.factories import HOUR, NOW, make_rater, make_study, make_system
from tests.helpers.factories_written_once import (
    make_analysis,
    make_dimension_rate,
    make_fit,
    make_human_rating,
    make_kept_counts,
    make_measurement,
    make_rater_figures,
    make_rating,
    make_release,
)

DONE = {"state": FitState.DONE, "ended_at": NOW}
REFUSED = {"state": FitState.REFUSED, "ended_at": NOW, "refusal": "Two groups of systems."}

FITS = [
    Case("Fit.key", twice(make_fit, key="same")),
    once(
        "fit_once_per_inputs_and_method",
        make_fit,
        study=make_study,
        inputs_hash="same",
        but={"method_hash": "other"},
    ),
    breaks("fit_pool_known", make_fit, pool="OTHER"),
    breaks("fit_context_set_known", make_fit, context_set="OTHER"),
    *ways(
        "fit_ended_by_state",
        (make_fit, "running with a time", {"ended_at": NOW}),
        (partial(make_fit, **DONE), "done without a time", {"ended_at": None}),
        (partial(make_fit, **DONE), "done with a refusal", {"refusal": "no"}),
        (partial(make_fit, **REFUSED), "refused without a reason", {"refusal": ""}),
        (partial(make_fit, **REFUSED), "refused without a time", {"ended_at": None}),
        (make_fit, "of an unknown state", {"state": "OTHER"}),
    ),
    Case(
        "fit_published_once_ended",
        partial(make_fit, published_at=NOW),
        partial(make_fit, **DONE, published_at=NOW),
    ),
    breaks("kept_counts_since_before_until", make_kept_counts, until=NOW - HOUR),
]

RATINGS = [
    once("rating_once_per_fit", make_rating, fit=make_fit, system=make_system, but="system"),
    *(
        breaks("rating_numbers_finite", make_rating, column, **{column: value})
        for column, value in [
            ("theta", float("inf")),
            ("elo_se", float("inf")),
            ("elo_low", float("-inf")),
            ("elo_high", float("inf")),
        ]
    ),
    limit("rating_numbers_finite", make_rating, "a negative error", elo_se=(-0.1, 0)),
    *ways(
        "rating_interval_holds_elo",
        (partial(make_rating, elo=1517), "too high", {"elo_low": 1518}, {"elo_low": 1517}),
        (partial(make_rating, elo=1517), "too low", {"elo_high": 1516}, {"elo_high": 1517}),
    ),
    limit("rating_interval_holds_rank", partial(make_rating, rank=2), "too high", rank_low=(3, 2)),
    limit("rating_interval_holds_rank", partial(make_rating, rank=2), "too low", rank_high=(1, 2)),
    limit("rating_interval_holds_rank", make_rating, "from one", rank=(0, 1), rank_low=(0, 1)),
    limit(
        "rating_outcomes_add_up",
        partial(make_rating, wins=5, losses=3, ties=1),
        n_judgments=(10, 9),
    ),
    limit("rating_tier_from_one", make_rating, tier=(0, 1)),
    *(
        breaks(
            "rating_joint_interval_holds_elo",
            make_rating,
            label,
            elo=1517,
            joint_low=low,
            joint_high=high,
        )
        for label, low, high in [
            ("one end alone", 1500, None),
            ("too high", 1518, 1530),
            ("too low", 1500, 1516),
            ("without end", 1500, float("inf")),
        ]
    ),
    limit(
        "rating_joint_interval_holds_elo",
        partial(make_rating, elo=1517, joint_high=1530),
        "without beginning",
        joint_low=(float("-inf"), 1500),
    ),
    limit("rating_sandwich_se_finite", make_rating, "a negative error", sandwich_se=(-0.1, 0)),
    breaks("rating_sandwich_se_finite", make_rating, "infinite", sandwich_se=float("inf")),
    once(
        "dimensionrate_once_per_rating",
        make_dimension_rate,
        rating=make_rating,
        but={"dimension": "E"},
    ),
    *ways(
        "dimensionrate_wins_within_marks",
        (partial(make_dimension_rate, n_marks=5), "more wins", {"wins": 6}, {"wins": 5}),
        (partial(make_dimension_rate, wins=0), "no marks", {"n_marks": 0}, {"n_marks": 1}),
    ),
]

PEOPLE = [
    once(
        "humanrating_once_per_fit",
        make_human_rating,
        fit=make_fit,
        but={"kind": PeopleKind.BEST_PLAIN},
    ),
    breaks("humanrating_kind_known", make_human_rating, kind="OTHER"),
    *(
        breaks("humanrating_numbers_finite", make_human_rating, column, **{column: value})
        for column, value in [
            ("elo_se", float("inf")),
            ("elo_low", float("-inf")),
            ("elo_high", float("inf")),
        ]
    ),
    limit("humanrating_numbers_finite", make_human_rating, "a negative error", elo_se=(-0.1, 0)),
    *ways(
        "humanrating_interval_holds_elo",
        (partial(make_human_rating, elo=1517), "too high", {"elo_low": 1518}, {"elo_low": 1517}),
        (partial(make_human_rating, elo=1517), "too low", {"elo_high": 1516}, {"elo_high": 1517}),
    ),
    *(
        limit("humanrating_rests_on_something", make_human_rating, column, **{column: (0, 1)})
        for column in ("n_judgments", "n_contexts")
    ),
]

ANALYSES = [
    once(
        "analysis_once_per_fit_and_code",
        make_analysis,
        fit=make_fit,
        but={"code_version": "numerics-2"},
    ),
    breaks("analysis_kind_known", make_analysis, kind="OTHER"),
    *ways(
        "analysis_ended_by_state",
        (make_analysis, "running with a time", {"ended_at": NOW}),
        (partial(make_analysis, **DONE), "done without a time", {"ended_at": None}),
        (partial(make_analysis, **REFUSED), "refused without a reason", {"refusal": ""}),
    ),
]

RATERS = [
    Case("Measurement.study", twice(make_measurement, study=make_study)),
    limit("measurement_seconds_positive", make_measurement, median_seconds=(0.0, None)),
    Case("RaterFigures.rater", twice(make_rater_figures, rater=make_rater)),
    limit(
        "raterfigures_passed_within_checks",
        partial(make_rater_figures, n_passed=3),
        n_checks=(2, 3),
    ),
]

BUILT = {"state": ReleaseState.DONE, "ended_at": NOW, "manifest_hash": "hash"}
NOT_BUILT = {"state": ReleaseState.REFUSED, "ended_at": NOW, "refusal": "There is no fit."}
ENDED = partial(make_release, **BUILT)

RELEASES = [
    Case("Release.key", twice(make_release, key="same")),
    once("release_version_once", ENDED, study=make_study, version=1, but={"version": 2}),
    once("release_one_under_way", make_release, study=make_study, but=BUILT),
    breaks("release_version_from_one", make_release, version=0),
    Case(
        "release_state_known",
        partial(make_release, state="OTHER"),
        or_says="release_ended_by_state",
    ),
    breaks("release_ended_by_state", make_release, "building", ended_at=NOW),
    breaks("release_ended_by_state", ENDED, "done without a hash", manifest_hash=""),
    breaks(
        "release_ended_by_state",
        partial(make_release, **NOT_BUILT),
        "refused without a reason",
        refusal="",
    ),
    breaks("release_secret_and_licence_given", make_release, secret=""),
    Case(
        "release_published_when_done",
        partial(make_release, published_at=NOW),
        partial(ENDED, published_at=NOW),
    ),
]

CASES = [*RATERS, *FITS, *RATINGS, *PEOPLE, *ANALYSES, *RELEASES]
