"""Ways to break the rules of the completions app."""

from functools import partial
from typing import Any

from completions.choices import (
    CallState,
    EscalationProfile,
    LeaseOutcome,
    Review,
    Stratum,
    SystemKind,
)
from completions.models import Dataset
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_system,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_written_once import make_imported_completion

CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}
DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "I hear you."}
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
INVALID = {"state": CallState.INVALID, "ended_at": NOW, "error_kind": "empty", "raw_answer": " "}


def make_adversarial_context(**fields):
    source = make_context()
    hostile: dict[str, Any] = {
        "dialogue": source.dialogue,
        "turn_index": source.turn_index,
        "stratum": Stratum.ADVERSARIAL,
        "escalation_profile": EscalationProfile.MID_RAMP,
        "source_context": source,
    }
    return make_context(**hostile | fields)


def make_done_call(**fields):
    return make_generation_call(**DONE | {"completion": make_completion()} | fields)


def make_vetted_by_itself():
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(vetting=dataset)


def make_written_completion(**fields):
    return make_completion(
        **{"writer": make_writer(), "system": make_system(kind=SystemKind.HUMAN)} | fields
    )


def make_skipped_writing_lease(**fields):
    skipped = {"closed_at": NOW, "outcome": LeaseOutcome.SKIPPED, "skip_reason": "upsetting"}
    return make_writing_lease(**skipped | fields)


DATASETS = [
    Case("Dataset.slug", twice(make_dataset, slug="demo")),
    Case("dataset_slug_given", partial(make_dataset, slug="")),
    Case(
        "dataset_completions_per_context_range",
        partial(make_dataset, completions_per_context=51),
        partial(make_dataset, completions_per_context=50),
    ),
    Case(
        "dataset_most_adversarial_share",
        partial(make_dataset, most_adversarial=101),
        partial(make_dataset, most_adversarial=100),
    ),
    Case(
        "dataset_vetting_is_another",
        make_vetted_by_itself,
        lambda: make_dataset(vetting=make_dataset()),
    ),
    Case(
        "dialogue_once_per_dataset",
        twice(make_dialogue, dataset=make_dataset, content_hash="same"),
        twice(make_dialogue, content_hash="same", changed={"dataset": make_dataset}),
    ),
]

CONTEXTS = [
    Case("Context.key", twice(make_context, key="same")),
    Case(
        "context_regular_once_per_turn",
        twice(make_context, dialogue=make_dialogue, turn_index=2),
        make_adversarial_context,
        "the rewrite of a turn is another context",
    ),
    Case("context_stratum_known", partial(make_context, stratum="OTHER")),
    Case(
        "context_rewrite_has_profile_and_source",
        partial(make_adversarial_context, escalation_profile=""),
        make_adversarial_context,
        "without a profile",
    ),
    Case(
        "context_rewrite_has_profile_and_source",
        partial(make_adversarial_context, escalation_profile="OTHER"),
        label="of an unknown profile",
    ),
    Case(
        "context_rewrite_has_profile_and_source",
        partial(make_adversarial_context, source_context=None),
        partial(make_adversarial_context, source_context=None, escalation_profile=""),
        "without a source, unless it was made elsewhere",
    ),
    Case(
        "context_rewrite_has_profile_and_source",
        lambda: make_context(source_context=make_context()),
        label="regular with a source",
    ),
    Case(
        "context_rewrite_has_profile_and_source",
        partial(make_context, escalation_profile=EscalationProfile.MID_RAMP),
        label="regular with a profile",
    ),
    Case(
        "context_rewritten_once_per_profile",
        twice(make_adversarial_context, source_context=make_context),
        twice(
            make_adversarial_context,
            source_context=make_context,
            changed={"escalation_profile": EscalationProfile.ALWAYS_10},
        ),
    ),
    Case(
        "context_review_known",
        partial(make_context, review="OTHER"),
        partial(make_context, review=Review.DROPPED),
    ),
    Case(
        "context_slots_not_negative",
        partial(make_context, slots_left=-1),
        partial(make_context, slots_left=0),
    ),
]

SYSTEMS = [
    Case("System.slug", twice(make_system, slug="same")),
    Case("System.name", twice(make_system, name="Same")),
    Case("system_kind_known", partial(make_system, kind="OTHER")),
    Case(
        "system_model_has_family",
        partial(make_system, family=""),
        partial(make_system, model_id=""),
        "a model without a family, though its texts may all be brought in",
    ),
    Case(
        "system_model_has_family",
        partial(make_system, kind=SystemKind.HUMAN, family="people"),
        partial(make_system, kind=SystemKind.HUMAN),
        "people with a family",
    ),
    Case(
        "System.writer",
        twice(make_system, kind=SystemKind.HUMAN, writer=make_writer),
        twice(make_system, kind=SystemKind.HUMAN),
    ),
    Case(
        "system_of_one_writer_is_human",
        lambda: make_system(writer=make_writer()),
        lambda: make_system(kind=SystemKind.HUMAN, writer=make_writer()),
    ),
    Case(
        "system_simulated_says_so",
        partial(make_system, is_simulated=True, name="Listener"),
        partial(make_system, is_simulated=True, name="SIMULATED Listener"),
    ),
]

WRITING_LEASES = [
    Case("WritingLease.token", twice(make_writing_lease, token="0" * 32)),
    Case(
        "writinglease_positive_length",
        partial(make_writing_lease, expires_at=NOW),
        partial(make_writing_lease, expires_at=NOW + HOUR / 3600),
    ),
    Case(
        "writinglease_closed_with_outcome",
        partial(make_writing_lease, closed_at=NOW),
        partial(make_writing_lease, **CLOSED),
        "closed without an outcome",
    ),
    Case(
        "writinglease_closed_with_outcome",
        partial(make_writing_lease, outcome=LeaseOutcome.EXPIRED),
        label="open with an outcome",
    ),
    Case(
        "writinglease_closed_with_outcome",
        partial(make_writing_lease, closed_at=NOW, outcome="OTHER"),
        label="of an unknown outcome",
    ),
    Case(
        "writinglease_reason_only_when_skipped",
        partial(make_skipped_writing_lease, outcome=LeaseOutcome.EXPIRED),
        make_skipped_writing_lease,
    ),
    Case(
        "writinglease_context_once_per_writer",
        twice(make_writing_lease, context=make_context, writer=make_writer, **CLOSED),
        twice(make_writing_lease, context=make_context, **CLOSED),
    ),
    Case(
        "writinglease_one_open_per_writer",
        twice(make_writing_lease, writer=make_writer),
        twice(make_writing_lease, writer=make_writer, changed=CLOSED),
    ),
]

COMPLETIONS = [
    Case(
        "completion_once_per_system",
        twice(make_completion, context=make_context, system=make_system),
        twice(
            make_completion,
            context=make_context,
            system=make_system,
            changed={"writer": make_writer},
        ),
        "people's completions have one system",
    ),
    Case(
        "completion_once_per_writer",
        twice(make_completion, context=make_context, writer=make_writer),
        twice(make_completion, writer=make_writer),
    ),
    Case("completion_text_unless_erased", partial(make_completion, text=""), label="no text"),
    Case(
        "completion_text_unless_erased",
        partial(make_completion, text="", erased_at=NOW),
        partial(make_written_completion, text="", erased_at=NOW),
        "erased and nobody wrote it",
    ),
    Case(
        "completion_text_unless_erased",
        partial(make_written_completion, erased_at=NOW),
        make_written_completion,
        "erased with a text",
    ),
]

CALLS = [
    Case("generationcall_state_known", partial(make_generation_call, state="OTHER")),
    Case(
        "generationcall_ended_with_time",
        partial(make_generation_call, **FAILED | {"ended_at": None}),
        partial(make_generation_call, **FAILED),
        "ended without a time",
    ),
    Case(
        "generationcall_ended_with_time",
        partial(make_generation_call, ended_at=NOW),
        make_generation_call,
        "pending with a time",
    ),
    Case(
        "generationcall_claimed_with_time",
        partial(make_generation_call, state=CallState.CLAIMED),
        partial(make_generation_call, state=CallState.CLAIMED, claimed_at=NOW),
    ),
    Case(
        "generationcall_answer_kept",
        partial(make_done_call, raw_answer=""),
        make_done_call,
        "done",
    ),
    Case(
        "generationcall_answer_kept",
        partial(make_generation_call, **INVALID | {"raw_answer": ""}),
        partial(make_generation_call, **INVALID),
        "invalid",
    ),
    Case(
        "generationcall_failure_named",
        partial(make_generation_call, **FAILED | {"error_kind": ""}),
        label="failed",
    ),
    Case(
        "generationcall_failure_named",
        partial(make_generation_call, **INVALID | {"error_kind": ""}),
        label="invalid",
    ),
    Case(
        "generationcall_once_per_context",
        twice(make_generation_call, context=make_context, system=make_system),
        twice(make_generation_call, context=make_context),
    ),
    Case(
        "generationcall_done_with_completion",
        partial(make_done_call, completion=None),
        label="done without",
    ),
    Case(
        "generationcall_done_with_completion",
        lambda: make_generation_call(completion=make_completion()),
        label="pending with",
    ),
    Case("GenerationCall.completion", twice(make_done_call, completion=make_completion)),
    Case(
        "BroughtCompletion.completion", twice(make_imported_completion, completion=make_completion)
    ),
    Case(
        "broughtcompletion_way_known",
        partial(make_imported_completion, way="OTHER"),
        partial(make_imported_completion, way="CONSOLE"),
    ),
    Case("broughtcompletion_text_kept", partial(make_imported_completion, raw_text="")),
]

CASES = [
    *DATASETS,
    *CONTEXTS,
    *SYSTEMS,
    *WRITING_LEASES,
    *COMPLETIONS,
    *CALLS,
]
