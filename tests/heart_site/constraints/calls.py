"""Ways to break the rules of calls to providers, of runs, and of what is made of answers."""

from collections.abc import Callable, Iterator
from functools import partial

from completions.choices import (
    CallState,
    EscalationProfile,
    JobState,
    PauseReason,
    Presence,
    RewriteState,
    RewriteStep,
    RunState,
)
from tests.heart_site.constraints.rules import Case, breaks, limit, once, twice, ways
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_candidate,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_judge_call,
    make_judgment,
    make_rewrite,
    make_rewrite_call,
    make_screening_call,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import (
    BOOK,
    KEYS,
    make_generation_run,
    make_judge_run,
    make_labelling_run,
    make_rationale_call,
    make_rationale_run,
    make_spot_check,
    make_spot_check_item,
    make_strategy_call,
    make_strategy_label,
    make_theme_check,
    make_theme_check_item,
    make_theme_label,
)
from tests.helpers.factories_of_site import make_job

DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "I hear you."}
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
INVALID = {"state": CallState.INVALID, "ended_at": NOW, "error_kind": "empty", "raw_answer": " "}
OPINION = {"opinion": {"qualifies": True}}
DROPPED = {"state": RewriteState.DROPPED, "ended_at": NOW, "reason": "The last turn is mild."}


def make_accepted_rewrite(**fields):
    accepted = {"state": RewriteState.ACCEPTED, "ended_at": NOW}
    return make_rewrite(**accepted | {"context": make_context()} | fields)


def make_opinion(**fields):
    return make_screening_call(**DONE | OPINION | fields)


def make_done_call(**fields):
    return make_generation_call(**DONE | {"completion": make_completion()} | fields)


def calls(name, make, *, done=None):
    """Return the ways to break what every call to a provider is held to."""
    return [
        breaks(f"{name}_state_known", make, state="OTHER"),
        breaks(
            f"{name}_ended_with_time",
            partial(make, **FAILED),
            "ended without a time",
            ended_at=None,
        ),
        breaks(f"{name}_ended_with_time", make, "pending with a time", ended_at=NOW),
        breaks(f"{name}_claimed_with_time", make, state=CallState.CLAIMED, but={"claimed_at": NOW}),
        breaks(f"{name}_answer_kept", done or partial(make, **DONE), "done", raw_answer=""),
        breaks(f"{name}_answer_kept", partial(make, **INVALID), "invalid", raw_answer=""),
        breaks(f"{name}_failure_named", partial(make, **FAILED), "failed", error_kind=""),
        breaks(f"{name}_failure_named", partial(make, **INVALID), "invalid", error_kind=""),
    ]


CANDIDATES = [
    once("candidate_once_per_turn", make_candidate, dialogue=make_dialogue, but={"turn_index": 4}),
    breaks("candidate_rules_given", make_candidate, rules=""),
    once(
        "screeningcall_once_per_candidate",
        make_screening_call,
        candidate=make_candidate,
        assistant=make_assistant,
        but="assistant",
    ),
    *ways(
        "screeningcall_done_with_opinion",
        (make_opinion, "done without", {"opinion": {}}),
        (make_screening_call, "pending with", OPINION),
    ),
    *calls("screeningcall", make_screening_call, done=make_opinion),
]

ASSISTANTS = [
    Case("Assistant.slug", twice(make_assistant, slug="same")),
    Case("Assistant.name", twice(make_assistant, name="Same")),
    breaks("assistant_model_given", make_assistant, model_id=""),
    limit(
        "assistant_simulated_says_so",
        partial(make_assistant, is_simulated=True),
        name=("Rewriter", "Simulated rewriter"),
    ),
]

REWRITES = [
    once(
        "rewrite_once_per_profile",
        make_rewrite,
        source_context=make_context,
        but={"profile": EscalationProfile.MID_RAMP},
    ),
    breaks("rewrite_profile_known", make_rewrite, profile="OTHER"),
    *ways(
        "rewrite_ended_with_time",
        (make_rewrite, "planned with", {"ended_at": NOW}),
        (make_accepted_rewrite, "accepted without", {"ended_at": None}),
        (make_rewrite, "of an unknown state", {"state": "OTHER", "ended_at": NOW}),
    ),
    breaks(
        "rewrite_accepted_with_context", make_accepted_rewrite, "accepted without", context=None
    ),
    breaks("rewrite_accepted_with_context", make_rewrite, "planned with", context=make_context),
    *ways(
        "rewrite_dropped_with_reason",
        (partial(make_rewrite, **DROPPED), "dropped without", {"reason": ""}),
        (make_accepted_rewrite, "accepted with", {"reason": "The last turn is mild."}),
    ),
    Case("Rewrite.context", twice(make_accepted_rewrite, context=make_context)),
    once(
        "rewritecall_once_per_round",
        make_rewrite_call,
        rewrite=make_rewrite,
        but={"step": RewriteStep.RATE},
    ),
    breaks("rewritecall_step_known", make_rewrite_call, step="OTHER"),
    limit("rewritecall_round_from_one", make_rewrite_call, round=(0, 2)),
    *calls("rewritecall", make_rewrite_call),
]

JOBS = [
    breaks("job_kind_known", make_job, kind="OTHER"),
    breaks("job_state_known", make_job, state="OTHER"),
    breaks(
        "job_over_has_end_and_no_file",
        make_job,
        "over without a time",
        state=JobState.DONE,
        but={"ended_at": NOW},
    ),
    Case(
        "job_over_has_end_and_no_file",
        partial(make_job, state=JobState.STOPPED, ended_at=NOW, content=b"x"),
        partial(make_job, state=JobState.CHECKED, content=b"x"),
        "over with a file",
    ),
    breaks("job_over_has_end_and_no_file", make_job, "open with an end", ended_at=NOW),
    once("job_one_open_of_a_kind", make_job, dataset=make_dataset, but="dataset"),
]

PRESENT = {"presence": Presence.PRESENT, "probability": 0.9, "quote": "No wonder"}


def labels(name: str, make: Callable[..., object]) -> Iterator[Case]:
    """Yield the ways to break what every label is held to."""
    yield breaks(f"{name}_presence_known", make, presence="OTHER")
    for wrong, right, which in ((1.01, 1, "above"), (-0.01, 0, "below")):
        yield limit(f"{name}_probability_range", make, which, probability=(wrong, right))
    yield breaks(f"{name}_present_with_quote", partial(make, **PRESENT), quote="")


CALLS = [
    *calls("generationcall", make_generation_call, done=make_done_call),
    once(
        "generationcall_once_per_context",
        make_generation_call,
        context=make_context,
        system=make_system,
        but="system",
    ),
    breaks("generationcall_done_with_completion", make_done_call, "done without", completion=None),
    breaks(
        "generationcall_done_with_completion",
        make_generation_call,
        "pending with",
        completion=make_completion,
    ),
    Case("GenerationCall.completion", twice(make_done_call, completion=make_completion)),
    *calls("judgecall", make_judge_call),
    once(
        "strategycall_once_per_completion",
        make_strategy_call,
        completion=make_completion,
        assistant=make_assistant,
        but="assistant",
    ),
    *calls("strategycall", make_strategy_call),
    once(
        "rationalecall_once_per_judgment",
        make_rationale_call,
        judgment=make_judgment,
        assistant=make_assistant,
        but={"codebook": "heart-2"},
    ),
    *calls("rationalecall", make_rationale_call),
]

LABELS = [
    once(
        "strategylabel_once",
        make_strategy_label,
        call=make_strategy_call,
        but={"strategy": KEYS[1]},
    ),
    *labels("strategylabel", make_strategy_label),
    once(
        "themelabel_once", make_theme_label, call=make_rationale_call, but={"theme": BOOK.keys[1]}
    ),
    *labels("themelabel", make_theme_label),
]

CHECKS = [
    once(
        "spotcheck_once",
        make_spot_check,
        dataset=make_dataset,
        assistant=make_assistant,
        but={"seed": "2"},
    ),
    breaks("spotcheck_seed_given", make_spot_check, seed=""),
    Case(
        "spotcheckitem_completion_once",
        twice(
            make_spot_check_item,
            spot_check=make_spot_check,
            completion=make_completion,
            changed={"position": 1},
        ),
        twice(make_spot_check_item, spot_check=make_spot_check, changed={"position": 1}),
    ),
    once(
        "spotcheckitem_position_once",
        make_spot_check_item,
        spot_check=make_spot_check,
        but="spot_check",
    ),
]

THEME_CHECKS = [
    once(
        "themecheck_once",
        make_theme_check,
        study=make_study,
        assistant=make_assistant,
        but={"seed": "2"},
    ),
    breaks("themecheck_seed_given", make_theme_check, seed=""),
    Case(
        "themecheckitem_judgment_once",
        twice(
            make_theme_check_item,
            spot_check=make_theme_check,
            judgment=make_judgment,
            changed={"position": 1},
        ),
        twice(make_theme_check_item, spot_check=make_theme_check, changed={"position": 1}),
    ),
    once(
        "themecheckitem_position_once",
        make_theme_check_item,
        spot_check=make_theme_check,
        but="spot_check",
    ),
]

PAUSED = {"state": RunState.PAUSED, "pause_reason": PauseReason.BUDGET}
ENDED = {"state": RunState.ENDED, "ended_at": NOW}


def runs(name: str, make: Callable[..., object]) -> Iterator[Case]:
    """Yield the ways to break what every run is held to."""
    yield breaks(f"{name}_state_known", make, state="OTHER")
    for reason in ("", "MOOD"):
        yield breaks(
            f"{name}_paused_with_reason",
            partial(make, **PAUSED),
            f"paused for {reason or 'none'}",
            pause_reason=reason,
        )
    yield breaks(
        f"{name}_paused_with_reason", make, "going on with a reason", pause_reason=PauseReason.ADMIN
    )
    for state in (RunState.ENDED, RunState.CANCELLED):
        yield Case(
            f"{name}_over_with_time",
            partial(make, state=state),
            partial(make, **ENDED | {"state": state}),
            f"{state} without a time",
        )
    yield breaks(f"{name}_over_with_time", make, "going on with a time", ended_at=NOW)
    yield limit(f"{name}_budget_positive", make, budget_usd=(0, "0.000001"))
    for sum_of in ("spent_usd", "reserved_usd"):
        yield limit(
            f"{name}_money_not_negative", make, sum_of, **{sum_of: ("-0.000001", "0.000001")}
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
    yield breaks(
        f"{name}_reserves_in_flight",
        partial(make, **in_flight),
        "less than nothing",
        reserved_usd="-0.01",
    )


RUNS = [
    *runs("generationrun", make_generation_run),
    *runs("labellingrun", make_labelling_run),
    *runs("judgerun", make_judge_run),
    *runs("rationalerun", make_rationale_run),
    *(
        limit("judgerun_samples_range", make_judge_run, f"{wrong} samples", samples=(wrong, right))
        for wrong, right in ((0, 1), (101, 100))
    ),
    *reserves("generationcall", make_generation_call),
    *reserves("judgecall", make_judge_call),
    *reserves("screeningcall", make_screening_call),
    *reserves("rewritecall", make_rewrite_call),
    *reserves("strategycall", make_strategy_call),
    *reserves("rationalecall", make_rationale_call),
    *(
        limit(
            "judgecall_probability_range",
            make_judge_call,
            f"{wrong}",
            first_probability=(wrong, right),
        )
        for wrong, right in ((-0.01, 0.0), (1.01, 1.0))
    ),
]

CASES = [
    *CANDIDATES,
    *ASSISTANTS,
    *REWRITES,
    *JOBS,
    *CALLS,
    *LABELS,
    *CHECKS,
    *THEME_CHECKS,
    *RUNS,
]
