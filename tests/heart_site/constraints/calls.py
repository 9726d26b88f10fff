"""Ways to break the rules of calls to providers, of runs, and of what is made of answers."""

from collections.abc import Iterator
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
from tests.heart_site.constraints.rules import Case, breaks, known, limit, once, once_within, ways
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_generation_call,
    make_judgment,
    make_rewrite,
    make_screening_call,
)
from tests.helpers.factories_of_calls import (
    BOOK,
    KEYS,
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


def calls(name, *, done=DONE):
    """Return the ways to break what every call to a provider is held to."""
    return [
        breaks(f"{name}_state_known", state="OTHER"),
        breaks(f"{name}_ended_with_time", "ended without a time", of=FAILED, ended_at=None),
        breaks(f"{name}_ended_with_time", "pending with a time", ended_at=NOW),
        breaks(f"{name}_claimed_with_time", state=CallState.CLAIMED, but={"claimed_at": NOW}),
        breaks(f"{name}_answer_kept", "done", of=done, raw_answer=""),
        breaks(f"{name}_answer_kept", "invalid", of=INVALID, raw_answer=""),
        breaks(f"{name}_failure_named", "failed", of=FAILED, error_kind=""),
        breaks(f"{name}_failure_named", "invalid", of=INVALID, error_kind=""),
    ]


PRESENT = {"presence": Presence.PRESENT, "probability": 0.9, "quote": "No wonder"}


def labels(name: str) -> Iterator[Case]:
    """Yield the ways to break what every label is held to."""
    yield from known(f"{name}_presence")
    for wrong, right, which in ((1.01, 1, "above"), (-0.01, 0, "below")):
        yield limit(f"{name}_probability_range", which, probability=(wrong, right))
    yield breaks(f"{name}_present_with_quote", of=PRESENT, quote="")


PAUSED = {"state": RunState.PAUSED, "pause_reason": PauseReason.BUDGET}
ENDED = {"state": RunState.ENDED, "ended_at": NOW}


def runs(name: str) -> Iterator[Case]:
    """Yield the ways to break what every run is held to."""
    yield breaks(f"{name}_state_known", state="OTHER")
    yield from ways(
        f"{name}_paused_with_reason",
        (PAUSED, "paused for none", {"pause_reason": ""}),
        (PAUSED, "paused for MOOD", {"pause_reason": "MOOD"}),
        ({}, "going on with a reason", {"pause_reason": PauseReason.ADMIN}),
    )
    for state in (RunState.ENDED, RunState.CANCELLED):
        yield breaks(
            f"{name}_over_with_time", f"{state} without a time", state=state, but={"ended_at": NOW}
        )
    yield breaks(f"{name}_over_with_time", "going on with a time", ended_at=NOW)
    yield limit(f"{name}_budget_positive", budget_usd=(0, "0.000001"))
    for sum_of in ("spent_usd", "reserved_usd"):
        yield limit(f"{name}_money_not_negative", sum_of, **{sum_of: ("-0.000001", "0.000001")})


def reserves(name: str) -> Iterator[Case]:
    """Yield the ways to break what holds for money that is set aside for a call."""
    rule, claimed = f"{name}_reserves_in_flight", {"state": CallState.CLAIMED, "claimed_at": NOW}
    yield breaks(rule, "waiting", reserved_usd="0.01", but=claimed)
    yield limit(rule, "less than nothing", of=claimed, reserved_usd=("-0.01", "0.01"))


CASES = [
    # Candidates
    once("candidate_once_per_turn", "dialogue", but={"turn_index": 4}),
    breaks("candidate_rules_given", rules=""),
    once("screeningcall_once_per_candidate", "candidate", "assistant", but="assistant"),
    *ways(
        "screeningcall_done_with_opinion",
        (make_opinion, "done without", {"opinion": {}}),
        ({}, "pending with", OPINION),
    ),
    *calls("screeningcall", done=make_opinion),
    # Assistants
    once("Assistant.slug", slug="same"),
    once("Assistant.name", name="Same"),
    breaks("assistant_model_given", model_id=""),
    limit(
        "assistant_simulated_says_so",
        of={"is_simulated": True},
        name=("Rewriter", "Simulated rewriter"),
    ),
    # Rewrites
    once("rewrite_once_per_profile", "source_context", but={"profile": EscalationProfile.MID_RAMP}),
    *known("rewrite_profile"),
    *ways(
        "rewrite_ended_with_time",
        ({}, "planned with", {"ended_at": NOW}),
        (make_accepted_rewrite, "accepted without", {"ended_at": None}),
        ({}, "of an unknown state", {"state": "OTHER", "ended_at": NOW}),
    ),
    breaks(
        "rewrite_accepted_with_context", "accepted without", of=make_accepted_rewrite, context=None
    ),
    breaks("rewrite_accepted_with_context", "planned with", context=make_context),
    *ways(
        "rewrite_dropped_with_reason",
        (DROPPED, "dropped without", {"reason": ""}),
        (make_accepted_rewrite, "accepted with", {"reason": "The last turn is mild."}),
    ),
    once("Rewrite.context", "context", of=make_accepted_rewrite),
    once("rewritecall_once_per_round", "rewrite", but={"step": RewriteStep.RATE}),
    *known("rewritecall_step"),
    limit("rewritecall_round_from_one", round=(0, 2)),
    *calls("rewritecall"),
    # Jobs
    *known("job_kind", "job_state"),
    breaks(
        "job_over_has_end_and_no_file",
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
    breaks("job_over_has_end_and_no_file", "open with an end", ended_at=NOW),
    once("job_one_open_of_a_kind", "dataset", but="dataset"),
    # Calls
    *calls("generationcall", done=make_done_call),
    once("generationcall_once_per_context", "context", "system", but="system"),
    breaks(
        "generationcall_done_with_completion", "done without", of=make_done_call, completion=None
    ),
    breaks("generationcall_done_with_completion", "pending with", completion=make_completion),
    once("GenerationCall.completion", "completion", of=make_done_call),
    *calls("judgecall"),
    once("strategycall_once_per_completion", "completion", "assistant", but="assistant"),
    *calls("strategycall"),
    once("rationalecall_once_per_judgment", "judgment", "assistant", but={"codebook": "heart-2"}),
    *calls("rationalecall"),
    # Labels
    once("strategylabel_once", "call", but={"strategy": KEYS[1]}),
    *labels("strategylabel"),
    once("themelabel_once", "call", but={"theme": BOOK.keys[1]}),
    *labels("themelabel"),
    # Checks of labels
    once("spotcheck_once", "dataset", "assistant", but={"seed": "2"}),
    breaks("spotcheck_seed_given", seed=""),
    once_within(
        "spotcheckitem_completion_once",
        {"completion": make_completion},
        "spot_check",
        changed={"position": 1},
    ),
    once("spotcheckitem_position_once", "spot_check", but="spot_check"),
    once("themecheck_once", "study", "assistant", but={"seed": "2"}),
    breaks("themecheck_seed_given", seed=""),
    once_within(
        "themecheckitem_judgment_once",
        {"judgment": make_judgment},
        "spot_check",
        changed={"position": 1},
    ),
    once("themecheckitem_position_once", "spot_check", but="spot_check"),
    # Runs
    *(one for of in ("generation", "labelling", "judge", "rationale") for one in runs(f"{of}run")),
    *(
        limit("judgerun_samples_range", f"{wrong} samples", samples=(wrong, right))
        for wrong, right in ((0, 1), (101, 100))
    ),
    *(
        one
        for of in ("generation", "judge", "screening", "rewrite", "strategy", "rationale")
        for one in reserves(f"{of}call")
    ),
    *(
        limit("judgecall_probability_range", f"{wrong}", first_probability=(wrong, right))
        for wrong, right in ((-0.01, 0.0), (1.01, 1.0))
    ),
]
