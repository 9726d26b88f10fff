"""Ways to break the rules of the ranking app."""

from functools import partial

from ranking.choices import FitState, PeopleKind, ReleaseState
from tests.heart_site.constraints.rules import Case, twice
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
    Case(
        "fit_once_per_inputs_and_method",
        twice(make_fit, study=make_study, inputs_hash="same"),
        twice(make_fit, study=make_study, inputs_hash="same", changed={"method_hash": "other"}),
    ),
    Case("fit_pool_known", partial(make_fit, pool="OTHER")),
    Case("fit_context_set_known", partial(make_fit, context_set="OTHER")),
    Case("fit_ended_by_state", partial(make_fit, ended_at=NOW), make_fit, "running with a time"),
    Case(
        "fit_ended_by_state",
        partial(make_fit, **DONE | {"ended_at": None}),
        partial(make_fit, **DONE),
        "done without a time",
    ),
    Case(
        "fit_ended_by_state", partial(make_fit, **DONE, refusal="no"), label="done with a refusal"
    ),
    Case(
        "fit_ended_by_state",
        partial(make_fit, **REFUSED | {"refusal": ""}),
        partial(make_fit, **REFUSED),
        "refused without a reason",
    ),
    Case(
        "fit_ended_by_state",
        partial(make_fit, **REFUSED | {"ended_at": None}),
        label="refused without a time",
    ),
    Case("fit_ended_by_state", partial(make_fit, state="OTHER"), label="of an unknown state"),
    Case(
        "fit_published_once_ended",
        partial(make_fit, published_at=NOW),
        partial(make_fit, **DONE, published_at=NOW),
    ),
    Case(
        "kept_counts_since_before_until",
        partial(make_kept_counts, until=NOW - HOUR),
        make_kept_counts,
    ),
]

RATINGS = [
    Case(
        "rating_once_per_fit",
        twice(make_rating, fit=make_fit, system=make_system),
        twice(make_rating, fit=make_fit),
    ),
    *(
        Case("rating_numbers_finite", partial(make_rating, **{column: value}), label=column)
        for column, value in [
            ("theta", float("inf")),
            ("elo_se", float("inf")),
            ("elo_low", float("-inf")),
            ("elo_high", float("inf")),
        ]
    ),
    Case(
        "rating_numbers_finite",
        partial(make_rating, elo_se=-0.1),
        partial(make_rating, elo_se=0),
        "a negative error",
    ),
    Case(
        "rating_interval_holds_elo",
        partial(make_rating, elo=1517, elo_low=1518),
        partial(make_rating, elo=1517, elo_low=1517),
        "too high",
    ),
    Case(
        "rating_interval_holds_elo",
        partial(make_rating, elo=1517, elo_high=1516),
        partial(make_rating, elo=1517, elo_high=1517),
        "too low",
    ),
    Case(
        "rating_interval_holds_rank",
        partial(make_rating, rank=2, rank_low=3),
        partial(make_rating, rank=2, rank_low=2),
        "too high",
    ),
    Case(
        "rating_interval_holds_rank",
        partial(make_rating, rank=2, rank_high=1),
        partial(make_rating, rank=2, rank_high=2),
        "too low",
    ),
    Case(
        "rating_interval_holds_rank",
        partial(make_rating, rank=0, rank_low=0),
        partial(make_rating, rank=1, rank_low=1),
        "from one",
    ),
    Case(
        "rating_outcomes_add_up",
        partial(make_rating, n_judgments=10, wins=5, losses=3, ties=1),
        partial(make_rating, n_judgments=9, wins=5, losses=3, ties=1),
    ),
    Case("rating_tier_from_one", partial(make_rating, tier=0), partial(make_rating, tier=1)),
    *(
        Case(
            "rating_joint_interval_holds_elo",
            partial(make_rating, elo=1517, joint_low=low, joint_high=high),
            label=label,
        )
        for label, low, high in [
            ("one end alone", 1500, None),
            ("too high", 1518, 1530),
            ("too low", 1500, 1516),
            ("without end", 1500, float("inf")),
        ]
    ),
    Case(
        "rating_joint_interval_holds_elo",
        partial(make_rating, elo=1517, joint_low=float("-inf"), joint_high=1530),
        partial(make_rating, elo=1517, joint_low=1500, joint_high=1530),
        "without beginning",
    ),
    Case(
        "rating_sandwich_se_finite",
        partial(make_rating, sandwich_se=-0.1),
        partial(make_rating, sandwich_se=0),
        "a negative error",
    ),
    Case(
        "rating_sandwich_se_finite",
        partial(make_rating, sandwich_se=float("inf")),
        label="infinite",
    ),
    Case(
        "dimensionrate_once_per_rating",
        twice(make_dimension_rate, rating=make_rating),
        twice(make_dimension_rate, rating=make_rating, changed={"dimension": "E"}),
    ),
    Case(
        "dimensionrate_wins_within_marks",
        partial(make_dimension_rate, wins=6, n_marks=5),
        partial(make_dimension_rate, wins=5, n_marks=5),
        "more wins",
    ),
    Case(
        "dimensionrate_wins_within_marks",
        partial(make_dimension_rate, wins=0, n_marks=0),
        partial(make_dimension_rate, wins=0, n_marks=1),
        "no marks",
    ),
]

PEOPLE = [
    Case(
        "humanrating_once_per_fit",
        twice(make_human_rating, fit=make_fit),
        twice(make_human_rating, fit=make_fit, changed={"kind": PeopleKind.BEST_PLAIN}),
    ),
    Case("humanrating_kind_known", partial(make_human_rating, kind="OTHER")),
    *(
        Case(
            "humanrating_numbers_finite",
            partial(make_human_rating, **{column: value}),
            label=column,
        )
        for column, value in [
            ("elo_se", float("inf")),
            ("elo_low", float("-inf")),
            ("elo_high", float("inf")),
        ]
    ),
    Case(
        "humanrating_numbers_finite",
        partial(make_human_rating, elo_se=-0.1),
        partial(make_human_rating, elo_se=0),
        "a negative error",
    ),
    Case(
        "humanrating_interval_holds_elo",
        partial(make_human_rating, elo=1517, elo_low=1518),
        partial(make_human_rating, elo=1517, elo_low=1517),
        "too high",
    ),
    Case(
        "humanrating_interval_holds_elo",
        partial(make_human_rating, elo=1517, elo_high=1516),
        partial(make_human_rating, elo=1517, elo_high=1517),
        "too low",
    ),
    *(
        Case(
            "humanrating_rests_on_something",
            partial(make_human_rating, **{column: 0}),
            partial(make_human_rating, **{column: 1}),
            column,
        )
        for column in ("n_judgments", "n_contexts")
    ),
]

ANALYSES = [
    Case(
        "analysis_once_per_fit_and_code",
        twice(make_analysis, fit=make_fit),
        twice(make_analysis, fit=make_fit, changed={"code_version": "numerics-2"}),
    ),
    Case("analysis_kind_known", partial(make_analysis, kind="OTHER")),
    Case(
        "analysis_ended_by_state",
        partial(make_analysis, ended_at=NOW),
        make_analysis,
        "running with a time",
    ),
    Case(
        "analysis_ended_by_state",
        partial(make_analysis, **DONE | {"ended_at": None}),
        partial(make_analysis, **DONE),
        "done without a time",
    ),
    Case(
        "analysis_ended_by_state",
        partial(make_analysis, **REFUSED | {"refusal": ""}),
        partial(make_analysis, **REFUSED),
        "refused without a reason",
    ),
]

RATERS = [
    Case("Measurement.study", twice(make_measurement, study=make_study)),
    Case(
        "measurement_seconds_positive",
        partial(make_measurement, median_seconds=0.0),
        partial(make_measurement, median_seconds=None),
    ),
    Case("RaterFigures.rater", twice(make_rater_figures, rater=make_rater)),
    Case(
        "raterfigures_passed_within_checks",
        partial(make_rater_figures, n_checks=2, n_passed=3),
        partial(make_rater_figures, n_checks=3, n_passed=3),
    ),
]

BUILT = {"state": ReleaseState.DONE, "ended_at": NOW, "manifest_hash": "hash"}
NOT_BUILT = {"state": ReleaseState.REFUSED, "ended_at": NOW, "refusal": "There is no fit."}
ENDED = partial(make_release, **BUILT)

RELEASES = [
    Case("Release.key", twice(make_release, key="same")),
    Case(
        "release_version_once",
        twice(ENDED, study=make_study, version=1),
        twice(ENDED, study=make_study, version=1, changed={"version": 2}),
    ),
    Case(
        "release_one_under_way",
        twice(make_release, study=make_study),
        twice(make_release, study=make_study, changed=BUILT),
    ),
    Case("release_version_from_one", partial(make_release, version=0)),
    Case(
        "release_state_known",
        partial(make_release, state="OTHER"),
        or_says="release_ended_by_state",
    ),
    Case("release_ended_by_state", partial(make_release, ended_at=NOW), make_release, "building"),
    Case("release_ended_by_state", partial(ENDED, manifest_hash=""), ENDED, "done without a hash"),
    Case(
        "release_ended_by_state",
        partial(make_release, **NOT_BUILT | {"refusal": ""}),
        partial(make_release, **NOT_BUILT),
        "refused without a reason",
    ),
    Case("release_secret_and_licence_given", partial(make_release, secret="")),
    Case(
        "release_published_when_done",
        partial(make_release, published_at=NOW),
        partial(ENDED, published_at=NOW),
    ),
]

CASES = [*RATERS, *FITS, *RATINGS, *PEOPLE, *ANALYSES, *RELEASES]
