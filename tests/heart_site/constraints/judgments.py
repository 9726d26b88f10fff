"""Ways to break the rules of judges, judgments, quality checks and exclusions."""

from functools import partial

from annotation.choices import CheckKind, Expected, Protocol, Side
from completions.choices import CallState
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_judge,
    make_judge_call,
    make_judgment,
    make_llm_judgment,
    make_quality_check,
    make_rater,
)
from tests.helpers.factories_written_once import (
    make_exclusion,
    make_mark,
    make_user,
)

FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
INVALID = {"state": CallState.INVALID, "ended_at": NOW, "error_kind": "json", "raw_answer": "?"}


def make_pair_of_systems():
    """Make a comparison whose systems are of the families "one" and "two"."""
    comparison = make_comparison()
    for completion, family in zip(comparison.pair, ("one", "two"), strict=True):
        completion.system.family = family
        completion.system.save()
    return comparison


def make_call_of_family(family):
    return make_judge_call(comparison=make_pair_of_systems(), judge_family=family)


def make_judgment_of_two():
    """A judgment that both a rater and a judge gave."""
    judge = make_judge()
    return make_judgment(judge=judge, judge_call=make_judge_call(judge=judge))


def make_two_judgments_of_one_call():
    stored = make_llm_judgment()
    return make_llm_judgment(
        comparison=stored.comparison, judge=stored.judge, judge_call=stored.judge_call
    )


def make_revision(*, is_linked):
    judgment = make_judgment()
    return make_judgment(
        comparison=judgment.comparison,
        rater=judgment.rater,
        lease=judgment.lease,
        verdict=-1,
        revises=judgment if is_linked else None,
    )


def make_two_revisions(*, of_one):
    revision = make_revision(is_linked=True)
    return make_judgment(
        comparison=revision.comparison,
        rater=revision.rater,
        lease=revision.lease,
        verdict=0,
        revises=revision.revises if of_one else revision,
    )


def judged(verdict, protocol=Protocol.PREFERENCE):
    return partial(make_judgment, verdict=verdict, protocol=protocol)


JUDGES = [
    Case("Judge.slug", twice(make_judge, slug="same")),
    Case("Judge.name", twice(make_judge, name="Same")),
    Case("judge_family_given", partial(make_judge, family="")),
    Case("judge_model_given", partial(make_judge, model_id="")),
    Case(
        "judge_simulated_says_so",
        partial(make_judge, is_simulated=True, name="Judge"),
        partial(make_judge, is_simulated=True, name="Simulated judge"),
    ),
    Case("judgecall_state_known", partial(make_judge_call, state="OTHER")),
    Case(
        "judgecall_ended_with_time",
        partial(make_judge_call, **FAILED | {"ended_at": None}),
        partial(make_judge_call, **FAILED),
        "ended without a time",
    ),
    Case("judgecall_ended_with_time", partial(make_judge_call, ended_at=NOW), label="pending with"),
    Case(
        "judgecall_claimed_with_time",
        partial(make_judge_call, state=CallState.CLAIMED),
        partial(make_judge_call, state=CallState.CLAIMED, claimed_at=NOW),
    ),
    Case(
        "judgecall_answer_kept",
        partial(make_judge_call, **INVALID | {"raw_answer": ""}),
        partial(make_judge_call, **INVALID),
    ),
    Case("judgecall_failure_named", partial(make_judge_call, **FAILED | {"error_kind": ""})),
    Case(
        "judgecall_once",
        twice(make_judge_call, comparison=make_comparison, judge=make_judge),
        twice(
            make_judge_call,
            comparison=make_comparison,
            judge=make_judge,
            changed={"first_side": Side.B},
        ),
        "but in both orders",
    ),
    Case(
        "judgecall_once",
        twice(make_judge_call, comparison=make_comparison, judge=make_judge),
        twice(make_judge_call, comparison=make_comparison, judge=make_judge, changed={"sample": 1}),
        "but several samples",
    ),
    Case("judgecall_side_known", partial(make_judge_call, first_side="C")),
    Case(
        "judgecall_not_own_family",
        partial(make_call_of_family, "one"),
        partial(make_call_of_family, "three"),
        "of the first",
    ),
    Case("judgecall_not_own_family", partial(make_call_of_family, "two"), label="of the second"),
    Case("judgecall_not_own_family", partial(make_call_of_family, ""), label="of none"),
]

JUDGMENTS = [
    Case("judgment_by_a_rater_or_a_judge", make_judgment_of_two, make_judgment, "both"),
    Case(
        "judgment_by_a_rater_or_a_judge",
        lambda: make_llm_judgment(rater=make_rater()),
        make_llm_judgment,
        "a judge and a rater without a lease",
    ),
    *(
        Case("judgment_verdict_on_scale", judged(beyond), judged(within), f"preference {beyond}")
        for beyond, within in [(-3, -2), (3, 2)]
    ),
    *(
        Case(
            "judgment_verdict_on_scale",
            judged(beyond, Protocol.RUBRIC),
            judged(within, Protocol.RUBRIC),
            f"rubric {beyond}",
        )
        for beyond, within in [(-6, -5), (0, 1), (6, 5)]
    ),
    Case("judgment_verdict_on_scale", judged(1, "OTHER"), judged(0), "of an unknown protocol"),
    Case("judgment_side_known", partial(make_judgment, first_side="C")),
    Case(
        "judgment_shown_before_submitted",
        partial(make_judgment, submitted_at=NOW - HOUR),
        partial(make_judgment, submitted_at=NOW),
    ),
    Case(
        "judgment_once_per_lease",
        partial(make_revision, is_linked=False),
        partial(make_revision, is_linked=True),
        "but revised",
    ),
    Case("Judgment.judge_call", make_two_judgments_of_one_call),
    Case(
        "Judgment.revises",
        partial(make_two_revisions, of_one=True),
        partial(make_two_revisions, of_one=False),
    ),
    Case("judgment_protocol_named", partial(make_judgment, protocol_hash="")),
    Case(
        "dimensionmark_once_per_judgment",
        twice(make_mark, judgment=make_judgment),
        twice(make_mark, judgment=make_judgment, changed={"dimension": "E"}),
    ),
    Case(
        "dimensionmark_advantage_range",
        partial(make_mark, advantage=6),
        partial(make_mark, advantage=5),
        "for the first",
    ),
    Case(
        "dimensionmark_advantage_range",
        partial(make_mark, advantage=-6),
        partial(make_mark, advantage=-5),
        "for the second",
    ),
    Case("dimensionmark_dimension_given", partial(make_mark, dimension="")),
]

QUALITY = [
    Case(
        "qualitycheck_once_per_comparison",
        twice(make_quality_check, comparison=make_comparison),
        twice(make_quality_check),
    ),
    Case("qualitycheck_kind_known", partial(make_quality_check, kind="OTHER")),
    Case(
        "qualitycheck_answer_known",
        partial(make_quality_check, kind=CheckKind.ATTENTION, expected=""),
        partial(make_quality_check, kind=CheckKind.ATTENTION, expected=Expected.SECOND),
        "without an answer",
    ),
    Case(
        "qualitycheck_answer_known",
        partial(make_quality_check, expected=Expected.HIGH),
        partial(make_quality_check, expected=Expected.HIGH, dimension="E"),
        "high on no dimension",
    ),
    Case(
        "exclusion_of_a_rater_or_a_judge",
        partial(make_exclusion, rater=None),
        lambda: make_exclusion(judge=make_judge()),
        "of neither",
    ),
    Case(
        "exclusion_of_a_rater_or_a_judge",
        lambda: make_exclusion(rater=make_rater(), judge=make_judge()),
        make_exclusion,
        "of both",
    ),
    Case("exclusion_rule_named", partial(make_exclusion, rule="")),
    Case(
        "exclusion_taken_back_by_someone_with_reason",
        partial(make_exclusion, is_excluded=False, reason="a slow line"),
        lambda: make_exclusion(is_excluded=False, reason="a slow line", decided_by=make_user()),
        "by nobody",
    ),
    Case(
        "exclusion_taken_back_by_someone_with_reason",
        lambda: make_exclusion(is_excluded=False, decided_by=make_user()),
        make_exclusion,
        "without a reason",
    ),
]

CASES = [*JUDGES, *JUDGMENTS, *QUALITY]
