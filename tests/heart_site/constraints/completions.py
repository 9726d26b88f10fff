"""Ways to break the rules of contexts, systems, writers and their texts."""

from functools import partial
from typing import Any

from completions.choices import (
    EscalationProfile,
    LeaseOutcome,
    MessageState,
    MessageVerdict,
    Review,
    Stratum,
    SystemKind,
    WriterState,
)
from completions.models import Dataset
from tests.heart_site.constraints.rules import Case, breaks, known, limit, once, twice, ways
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_system,
    make_writer,
    make_writing_lease,
)

CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


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


ELSEWHERE: dict[str, Any] = {"state": WriterState.ELSEWHERE, "imported_as": "author 7"}
USED = {"completion": make_completion}
RETURNED = MessageVerdict.RETURNED


CASES = [
    # Datasets
    once("Dataset.slug", slug="demo"),
    breaks("dataset_slug_given", slug=""),
    limit("dataset_completions_per_context_range", completions_per_context=(51, 50)),
    limit("dataset_most_adversarial_share", most_adversarial=(101, 100)),
    Case(
        "dataset_vetting_is_another",
        make_vetted_by_itself,
        lambda: make_dataset(vetting=make_dataset()),
    ),
    once("dialogue_once_per_dataset", "dataset", content_hash="same", but="dataset"),
    # Contexts
    once("Context.key", key="same"),
    Case(
        "context_regular_once_per_turn",
        twice(make_context, dialogue=make_dialogue, turn_index=2),
        make_adversarial_context,
        "the rewrite of a turn is another context",
    ),
    *known("context_stratum"),
    *ways(
        "context_rewrite_has_profile_and_source",
        (make_adversarial_context, "without a profile", {"escalation_profile": ""}),
        (make_adversarial_context, "of an unknown profile", {"escalation_profile": "OTHER"}),
        (
            make_adversarial_context,
            "without a source, unless it was made elsewhere",
            {"source_context": None},
            {"escalation_profile": ""},
        ),
        ({}, "regular with a source", {"source_context": make_context}),
        ({}, "regular with a profile", {"escalation_profile": EscalationProfile.MID_RAMP}),
    ),
    once(
        "context_rewritten_once_per_profile",
        "source_context",
        of=make_adversarial_context,
        but={"escalation_profile": EscalationProfile.ALWAYS_10},
    ),
    limit("context_review_known", review=("OTHER", Review.DROPPED)),
    limit("context_slots_not_negative", slots_left=(-1, 0)),
    # Systems
    once("System.slug", slug="same"),
    once("System.name", name="Same"),
    *known("system_kind"),
    Case(
        "system_model_has_family",
        partial(make_system, family=""),
        partial(make_system, model_id=""),
        "a model without a family, though its texts may all be brought in",
    ),
    breaks(
        "system_model_has_family",
        "people with a family",
        of={"kind": SystemKind.HUMAN},
        family="people",
    ),
    once("System.writer", "writer", kind=SystemKind.HUMAN, but="writer"),
    breaks("system_of_one_writer_is_human", writer=make_writer, but={"kind": SystemKind.HUMAN}),
    limit(
        "system_simulated_says_so",
        of={"is_simulated": True},
        name=("Listener", "SIMULATED Listener"),
    ),
    # Writing leases
    once("WritingLease.token", token="0" * 32),
    limit("writinglease_positive_length", expires_at=(NOW, NOW + HOUR / 3600)),
    *ways(
        "writinglease_closed_with_outcome",
        (CLOSED, "closed without an outcome", {"outcome": ""}),
        ({}, "open with an outcome", {"outcome": LeaseOutcome.EXPIRED}),
        ({}, "of an unknown outcome", {"closed_at": NOW, "outcome": "OTHER"}),
    ),
    breaks(
        "writinglease_reason_only_when_skipped",
        of=make_skipped_writing_lease,
        outcome=LeaseOutcome.EXPIRED,
    ),
    once("writinglease_context_once_per_writer", "context", "writer", of=CLOSED, but="writer"),
    once("writinglease_one_open_per_writer", "writer", but=CLOSED),
    # Completions
    once(
        "completion_once_per_system",
        "context",
        "system",
        label="people's completions have one system",
        but={"writer": make_writer},
    ),
    once("completion_once_per_writer", "context", "writer", but="context"),
    breaks("completion_text_unless_erased", "no text", text=""),
    Case(
        "completion_text_unless_erased",
        partial(make_completion, text="", erased_at=NOW),
        partial(make_written_completion, text="", erased_at=NOW),
        "erased and nobody wrote it",
    ),
    breaks(
        "completion_text_unless_erased",
        "erased with a text",
        of=make_written_completion,
        erased_at=NOW,
    ),
    # Completions that were brought
    once("BroughtCompletion.completion", "completion"),
    limit("broughtcompletion_way_known", way=("OTHER", "CONSOLE")),
    breaks("broughtcompletion_text_kept", raw_text=""),
    # Writers
    once("Writer.code", code="W1"),
    breaks("writer_code_given", code=""),
    *known("writer_state", "writermail_kind"),
    limit("writer_background_known", background=("OTHER", "")),
    breaks("writer_active_when_admitted", admitted_at=None, but={"state": WriterState.VETTING}),
    breaks("writer_resumes_from_pause", may_resume=True, but={"state": WriterState.PAUSED}),
    breaks(
        "writer_texts_kept_unless_withdrawn", texts_kept=False, but={"state": WriterState.WITHDRAWN}
    ),
    breaks("writer_imported_writes_elsewhere", imported_as="author 7", but=ELSEWHERE),
    once("writer_imported_once_per_dataset", "dataset", **ELSEWHERE, but="dataset"),
    Case(
        "writer_invited_once_per_dataset",
        twice(make_writer, dataset=make_dataset, email="a@example.org"),
        twice(make_writer, dataset=make_dataset, email=""),
        "several without an address",
    ),
    once("writerconsent_once_per_text", "writer", but={"version": "2"}),
    breaks("admissiondecision_refused_with_note", is_admitted=False, but={"note": "Advice."}),
    *ways(
        "writermail_claimed_before_sent",
        ({}, "never claimed", {"sent_at": NOW}, {"claimed_at": NOW}),
        ({}, "claimed after it was sent", {"claimed_at": NOW + HOUR, "sent_at": NOW}),
    ),
    # Messages
    once("Message.lease", "lease"),
    once("Message.completion", "completion", but="completion"),
    *known("message_state"),
    breaks("message_accepted_has_completion", state=MessageState.ACCEPTED, but=USED),
    *ways(
        "message_completion_only_in_use",
        ({}, "rejected", USED | {"state": MessageState.REJECTED}, {"state": MessageState.WAITING}),
        ({}, "on trial", USED | {"state": MessageState.TRIAL}),
    ),
    once("messagerevision_numbered_once", "message", number=1, but={"number": 2}),
    breaks("messagerevision_number_from_one", number=0),
    *ways(
        "messagerevision_text_unless_erased",
        ({}, "no text", {"text": ""}, {"erased_at": NOW}),
        ({}, "erased with a text", {"erased_at": NOW}),
    ),
    breaks("messagedecision_verdict_known", verdict="OTHER", note="x"),
    breaks("messagedecision_unless_accepted_with_note", verdict=RETURNED, but={"note": "Shorter."}),
]
