"""Ways to break the rules of how contexts are prepared."""

from functools import partial

from completions.choices import (
    CallState,
    EscalationProfile,
    JobState,
    RewriteState,
    RewriteStep,
)
from tests.heart_site.constraints.completions import DONE, FAILED, INVALID
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_candidate,
    make_context,
    make_dataset,
    make_dialogue,
    make_rewrite,
    make_rewrite_call,
    make_screening_call,
)
from tests.helpers.factories_of_site import make_job

OPINION = {"opinion": {"qualifies": True}}
DROPPED = {"state": RewriteState.DROPPED, "ended_at": NOW, "reason": "The last turn is mild."}


def make_accepted_rewrite(**fields):
    accepted = {"state": RewriteState.ACCEPTED, "ended_at": NOW}
    return make_rewrite(**accepted | {"context": make_context()} | fields)


def calls(name, make, *, done):
    """Return the ways to break what every call to a provider is held to."""
    return [
        Case(f"{name}_state_known", partial(make, state="OTHER")),
        Case(
            f"{name}_ended_with_time",
            partial(make, **FAILED | {"ended_at": None}),
            partial(make, **FAILED),
            "ended without a time",
        ),
        Case(f"{name}_ended_with_time", partial(make, ended_at=NOW), make, "pending with a time"),
        Case(
            f"{name}_claimed_with_time",
            partial(make, state=CallState.CLAIMED),
            partial(make, state=CallState.CLAIMED, claimed_at=NOW),
        ),
        Case(
            f"{name}_answer_kept",
            partial(make, **DONE | done | {"raw_answer": ""}),
            partial(make, **DONE | done),
            "done",
        ),
        Case(
            f"{name}_answer_kept",
            partial(make, **INVALID | {"raw_answer": ""}),
            partial(make, **INVALID),
            "invalid",
        ),
        Case(f"{name}_failure_named", partial(make, **FAILED | {"error_kind": ""}), label="failed"),
        Case(
            f"{name}_failure_named", partial(make, **INVALID | {"error_kind": ""}), label="invalid"
        ),
    ]


CANDIDATES = [
    Case(
        "candidate_once_per_turn",
        twice(make_candidate, dialogue=make_dialogue),
        twice(make_candidate, dialogue=make_dialogue, changed={"turn_index": 4}),
    ),
    Case("candidate_rules_given", partial(make_candidate, rules="")),
    Case(
        "screeningcall_once_per_candidate",
        twice(make_screening_call, candidate=make_candidate, assistant=make_assistant),
        twice(make_screening_call, candidate=make_candidate),
    ),
    Case(
        "screeningcall_done_with_opinion",
        partial(make_screening_call, **DONE),
        label="done without",
    ),
    Case(
        "screeningcall_done_with_opinion",
        partial(make_screening_call, **OPINION),
        label="pending with",
    ),
    *calls("screeningcall", make_screening_call, done=OPINION),
]

ASSISTANTS = [
    Case("Assistant.slug", twice(make_assistant, slug="same")),
    Case("Assistant.name", twice(make_assistant, name="Same")),
    Case("assistant_model_given", partial(make_assistant, model_id="")),
    Case(
        "assistant_simulated_says_so",
        partial(make_assistant, is_simulated=True, name="Rewriter"),
        partial(make_assistant, is_simulated=True, name="Simulated rewriter"),
    ),
]

REWRITES = [
    Case(
        "rewrite_once_per_profile",
        twice(make_rewrite, source_context=make_context),
        twice(
            make_rewrite,
            source_context=make_context,
            changed={"profile": EscalationProfile.MID_RAMP},
        ),
    ),
    Case("rewrite_profile_known", partial(make_rewrite, profile="OTHER")),
    Case("rewrite_ended_with_time", partial(make_rewrite, ended_at=NOW), label="planned with"),
    Case(
        "rewrite_ended_with_time",
        partial(make_accepted_rewrite, ended_at=None),
        make_accepted_rewrite,
        "accepted without",
    ),
    Case(
        "rewrite_ended_with_time",
        partial(make_rewrite, state="OTHER", ended_at=NOW),
        label="of an unknown state",
    ),
    Case(
        "rewrite_accepted_with_context",
        partial(make_accepted_rewrite, context=None),
        label="accepted without",
    ),
    Case(
        "rewrite_accepted_with_context",
        lambda: make_rewrite(context=make_context()),
        label="planned with",
    ),
    Case(
        "rewrite_dropped_with_reason",
        partial(make_rewrite, **DROPPED | {"reason": ""}),
        partial(make_rewrite, **DROPPED),
        "dropped without",
    ),
    Case(
        "rewrite_dropped_with_reason",
        partial(make_accepted_rewrite, reason="The last turn is mild."),
        label="accepted with",
    ),
    Case("Rewrite.context", twice(make_accepted_rewrite, context=make_context)),
    Case(
        "rewritecall_once_per_round",
        twice(make_rewrite_call, rewrite=make_rewrite),
        twice(make_rewrite_call, rewrite=make_rewrite, changed={"step": RewriteStep.RATE}),
    ),
    Case("rewritecall_step_known", partial(make_rewrite_call, step="OTHER")),
    Case(
        "rewritecall_round_from_one",
        partial(make_rewrite_call, round=0),
        partial(make_rewrite_call, round=2),
    ),
    *calls("rewritecall", make_rewrite_call, done={}),
]

JOBS = [
    Case("job_kind_known", partial(make_job, kind="OTHER")),
    Case(
        "job_state_known",
        partial(make_job, state="OTHER"),
    ),
    Case(
        "job_over_has_end_and_no_file",
        partial(make_job, state=JobState.DONE),
        partial(make_job, state=JobState.DONE, ended_at=NOW),
        "over without a time",
    ),
    Case(
        "job_over_has_end_and_no_file",
        partial(make_job, state=JobState.STOPPED, ended_at=NOW, content=b"x"),
        partial(make_job, state=JobState.CHECKED, content=b"x"),
        "over with a file",
    ),
    Case("job_over_has_end_and_no_file", partial(make_job, ended_at=NOW), label="open with an end"),
    Case("job_one_open_of_a_kind", twice(make_job, dataset=make_dataset), twice(make_job)),
]

CASES = [*CANDIDATES, *ASSISTANTS, *REWRITES, *JOBS]
