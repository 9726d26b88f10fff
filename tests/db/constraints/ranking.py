"""Ways to break the rules of the ranking app."""

from functools import partial

from ranking.choices import FitState, PeopleKind
from tests.db.constraints.rules import Case, twice
from tests.factories import NOW, make_study, make_system
from tests.factories_written_once import (
    make_analysis,
    make_dimension_rate,
    make_fit,
    make_human_rating,
    make_rating,
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

CASES = [*FITS, *RATINGS, *PEOPLE, *ANALYSES]
