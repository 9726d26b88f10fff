"""Ways to break the rules of judges, judgments here and elsewhere, checks and exclusions."""

import datetime as dt
from functools import partial

from annotation.choices import CheckKind, Expected, Protocol, Side
from tests.heart_site.constraints.rules import Case, breaks, given, limit, once, once_within, ways
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_judge,
    make_judge_call,
    make_judgment,
    make_llm_judgment,
    make_rater,
)
from tests.helpers.factories_of_site import make_external
from tests.helpers.factories_written_once import make_user


def make_pair_of_systems():
    """Make a comparison whose systems are of the families "one" and "two"."""
    comparison = make_comparison()
    for completion, family in zip(comparison.pair, ("one", "two"), strict=True):
        completion.system.family = family
        completion.system.save()
    return comparison


def make_call_of_family(judge_family):
    return make_judge_call(comparison=make_pair_of_systems(), judge_family=judge_family)


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


BEFORE = NOW.date() - dt.timedelta(days=1)


def make_two_external(*, rater):
    """Let the rater e0001 and another, or the same again, judge a comparison elsewhere."""
    first = make_external(rater="e0001")
    return make_external(batch=first.batch, comparison=first.comparison, rater=rater)


CASES = [
    # Judges
    once("Judge.slug", slug="same"),
    once("Judge.name", name="Same"),
    breaks("judge_family_given", family=""),
    breaks("judge_model_given", model_id=""),
    limit("judge_simulated_says_so", of={"is_simulated": True}, name=("Judge", "Simulated judge")),
    once(
        "judgecall_once",
        "comparison",
        "judge",
        label="but in both orders",
        but={"first_side": Side.B},
    ),
    once("judgecall_once", "comparison", "judge", label="but several samples", but={"sample": 1}),
    breaks("judgecall_side_known", first_side="C"),
    Case(
        "judgecall_not_own_family",
        partial(make_call_of_family, "one"),
        partial(make_call_of_family, "three"),
        "of the first",
    ),
    Case("judgecall_not_own_family", partial(make_call_of_family, "two"), label="of the second"),
    Case("judgecall_not_own_family", partial(make_call_of_family, ""), label="of none"),
    # Judgments
    Case("judgment_by_a_rater_or_a_judge", make_judgment_of_two, make_judgment, "both"),
    breaks(
        "judgment_by_a_rater_or_a_judge",
        "a judge and a rater without a lease",
        of=make_llm_judgment,
        rater=make_rater,
    ),
    *(
        limit(
            "judgment_verdict_on_scale",
            f"{protocol} {beyond}",
            of={"protocol": protocol},
            verdict=(beyond, within),
        )
        for protocol, beyond, within in [
            *((Protocol.PREFERENCE, -3, -2), (Protocol.PREFERENCE, 3, 2)),
            *((Protocol.RUBRIC, -6, -5), (Protocol.RUBRIC, 0, 1), (Protocol.RUBRIC, 6, 5)),
        ]
    ),
    limit("judgment_verdict_on_scale", "of no protocol", protocol=("OTHER", Protocol.PREFERENCE)),
    breaks("judgment_side_known", first_side="C"),
    limit("judgment_shown_before_submitted", submitted_at=(NOW - HOUR, NOW)),
    limit("judgment_once_per_lease", "but revised", of=make_revision, is_linked=(False, True)),
    Case("Judgment.judge_call", make_two_judgments_of_one_call),
    limit("Judgment.revises", of=make_two_revisions, of_one=(True, False)),
    breaks("judgment_protocol_named", protocol_hash=""),
    once("dimensionmark_once_per_judgment", "judgment", but={"dimension": "E"}),
    limit("dimensionmark_advantage_range", "for the first", advantage=(6, 5)),
    limit("dimensionmark_advantage_range", "for the second", advantage=(-6, -5)),
    breaks("dimensionmark_dimension_given", dimension=""),
    # Checks and exclusions
    once("qualitycheck_once_per_comparison", "comparison", but="comparison"),
    breaks("qualitycheck_kind_known", kind="OTHER"),
    limit(
        "qualitycheck_answer_known",
        "without an answer",
        of={"kind": CheckKind.ATTENTION},
        expected=("", Expected.SECOND),
    ),
    breaks(
        "qualitycheck_answer_known",
        "high on no dimension",
        expected=Expected.HIGH,
        but={"dimension": "E"},
    ),
    breaks("exclusion_of_a_rater_or_a_judge", "of neither", rater=None, but={"judge": make_judge}),
    breaks("exclusion_of_a_rater_or_a_judge", "of both", rater=make_rater, judge=make_judge),
    breaks("exclusion_rule_named", rule=""),
    *ways(
        "exclusion_taken_back_by_someone_with_reason",
        ({}, "by nobody", {"is_excluded": False, "reason": "slow"}, {"decided_by": make_user}),
        ({}, "without a reason", {"is_excluded": False, "decided_by": make_user}),
    ),
    # Judgments made elsewhere
    once_within("externalbatch_once_per_reference", {"reference": "one"}, "study"),
    *given("externalbatch_source_named", "source", "reference", "url", "licence"),
    *given("externalbatch_people_told_of", "recruitment", "consent"),
    breaks("externalbatch_collected_in_order", collected_until=BEFORE),
    *given("externalbatch_hashes_given", "content_digest", "protocol_hash"),
    limit("externaljudgment_once_per_rater", of=make_two_external, rater=("e0001", "e0002")),
    breaks("externaljudgment_rater_given", rater=""),
    limit("externaljudgment_verdict_range", verdict=(6, None)),
    breaks("externaldecision_reason_given", reason=""),
]
