"""Ways to break the rules of runs, and of the money that their calls may cost."""

from collections.abc import Callable, Iterator
from functools import partial

from completions.choices import CallState, PauseReason, RunState
from tests.heart_site.constraints.rules import Case
from tests.helpers.factories import (
    NOW,
    make_generation_call,
    make_judge_call,
    make_rewrite_call,
    make_screening_call,
)
from tests.helpers.factories_of_calls import (
    make_generation_run,
    make_judge_run,
    make_labelling_run,
    make_rationale_call,
    make_rationale_run,
    make_strategy_call,
)

PAUSED = {"state": RunState.PAUSED, "pause_reason": PauseReason.BUDGET}
ENDED = {"state": RunState.ENDED, "ended_at": NOW}


def runs(name: str, make: Callable[..., object]) -> Iterator[Case]:
    """Yield the ways to break what every run is held to."""
    yield Case(f"{name}_state_known", partial(make, state="OTHER"))
    for reason in ("", "MOOD"):
        yield Case(
            f"{name}_paused_with_reason",
            partial(make, **PAUSED | {"pause_reason": reason}),
            partial(make, **PAUSED),
            f"paused for {reason or 'none'}",
        )
    yield Case(
        f"{name}_paused_with_reason",
        partial(make, pause_reason=PauseReason.ADMIN),
        make,
        "going on with a reason",
    )
    for state in (RunState.ENDED, RunState.CANCELLED):
        yield Case(
            f"{name}_over_with_time",
            partial(make, state=state),
            partial(make, **ENDED | {"state": state}),
            f"{state} without a time",
        )
    yield Case(f"{name}_over_with_time", partial(make, ended_at=NOW), make, "going on with a time")
    yield Case(
        f"{name}_budget_positive", partial(make, budget_usd=0), partial(make, budget_usd="0.000001")
    )
    for sum_of in ("spent_usd", "reserved_usd"):
        yield Case(
            f"{name}_money_not_negative",
            partial(make, **{sum_of: "-0.000001"}),
            partial(make, **{sum_of: "0.000001"}),
            sum_of,
        )


def reserves(name: str, make: Callable[..., object]) -> Iterator[Case]:
    """Yield the ways to break what holds for money that is set aside for a call."""
    in_flight = {"state": CallState.CLAIMED, "claimed_at": NOW, "reserved_usd": "0.01"}
    yield Case(
        f"{name}_reserves_in_flight",
        partial(make, reserved_usd="0.01"),
        partial(make, **in_flight),
        "waiting",
    )
    yield Case(
        f"{name}_reserves_in_flight",
        partial(make, **in_flight | {"reserved_usd": "-0.01"}),
        partial(make, **in_flight),
        "less than nothing",
    )


CASES = [
    *runs("generationrun", make_generation_run),
    *runs("labellingrun", make_labelling_run),
    *runs("judgerun", make_judge_run),
    *runs("rationalerun", make_rationale_run),
    *(
        Case(
            "judgerun_samples_range",
            partial(make_judge_run, samples=wrong),
            partial(make_judge_run, samples=right),
            f"{wrong} samples",
        )
        for wrong, right in ((0, 1), (101, 100))
    ),
    *reserves("generationcall", make_generation_call),
    *reserves("judgecall", make_judge_call),
    *reserves("screeningcall", make_screening_call),
    *reserves("rewritecall", make_rewrite_call),
    *reserves("strategycall", make_strategy_call),
    *reserves("rationalecall", make_rationale_call),
    *(
        Case(
            "judgecall_probability_range",
            partial(make_judge_call, first_probability=wrong),
            partial(make_judge_call, first_probability=right),
            f"{wrong}",
        )
        for wrong, right in ((-0.01, 0.0), (1.01, 1.0))
    ),
]
