"""A study with every kind of judgment that an export may hold."""

from annotation.choices import CheckKind, Protocol, Purpose, Side
from annotation.models import Study
from completions.choices import CallState
from tests.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_judge,
    make_judge_call,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_system,
    make_writer,
)
from tests.factories_of_external import make_batch, make_external
from tests.factories_written_once import make_exclusion, make_user
from tests.judged import make_judged_study

LATER = NOW + 2 * HOUR


def make_mixed_study() -> Study:
    """A judged study, and beside what counts one judgment for each reason why not."""
    study = make_judged_study(with_llm=True, n_dialogues=6)
    _people(study)
    _pairs(study)
    _judges(study)
    make_external(batch=make_batch(study=study), comparison=study.comparisons.all()[0])
    make_judgment(
        comparison=make_comparison(study=study),
        first_side=Side.B,
        verdict=-2,
        rationale='=2+2, "quoted"\nand a second line',
    )
    return study


def _people(study: Study) -> None:
    gone = make_rater(study=study, state="WITHDRAWN", ended_at=NOW, data_kept=False)
    out, program = make_rater(study=study), make_rater(study=study, is_simulated=True)
    make_exclusion(rater=out, is_excluded=True, rule="pace v1", decided_at=NOW)
    back = make_rater(study=study)
    make_exclusion(rater=back, is_excluded=True, rule="pace v1", decided_at=NOW)
    make_exclusion(
        rater=back,
        is_excluded=False,
        reason="Read it.",
        rule="by hand",
        decided_at=NOW + HOUR,
        decided_by=make_user(),
    )
    for rater in (gone, out, program, back):
        make_judgment(comparison=make_comparison(study=study), rater=rater)
    surplus = make_judgment(comparison=make_comparison(study=study), is_surplus=True)
    revised = make_judgment(comparison=surplus.comparison)
    make_judgment(
        comparison=revised.comparison, rater=revised.rater, lease=revised.lease, revises=revised
    )
    make_judgment(
        comparison=make_comparison(study=study),
        shown_at=LATER + HOUR,
        submitted_at=LATER + HOUR,
    )


def _pairs(study: Study) -> None:
    planted = make_comparison(study=study, purpose=Purpose.CHECK)
    check = make_quality_check(comparison=planted, kind=CheckKind.GOLD)
    rater = make_rater(study=study)
    lease = make_lease(comparison=planted, rater=rater, quality_check=check, number=1)
    make_judgment(comparison=planted, rater=rater, lease=lease)
    pair = make_comparison(study=study)
    answered = make_judgment(comparison=pair, rater=make_rater(study=study))
    again = make_lease(comparison=pair, rater=answered.rater, repeats=answered.lease, number=90)
    make_judgment(comparison=pair, rater=answered.rater, lease=again)
    human = make_system(kind="HUMAN")
    one, other = (make_writer(dataset=study.dataset) for _ in range(2))
    first = make_completion(system=human, writer=one)
    second = make_completion(system=human, writer=other, context=first.context)
    make_judgment(comparison=make_comparison(study=study, first=first, second=second))
    erased = make_completion(
        system=human, writer=make_writer(dataset=study.dataset), text="", erased_at=NOW
    )
    other_text = make_completion(context=erased.context)
    make_judgment(comparison=make_comparison(study=study, first=erased, second=other_text))


def _judges(study: Study) -> None:
    pair = make_comparison(study=study)
    out = make_judge(name="Judge out")
    make_exclusion(judge=out, rater=None, is_excluded=True, rule="by hand", decided_at=NOW)
    make_llm_judgment(comparison=pair, judge=out)
    call = make_judge_call(comparison=pair, state=CallState.PENDING)
    make_llm_judgment(comparison=pair, judge=call.judge, judge_call=call)
    make_llm_judgment(comparison=pair, first_side=Side.B, protocol=Protocol.RUBRIC, verdict=4)
