"""Builders of messages and decisions on them, of reports, guesses, events, audits and holds."""

from functools import partial
from typing import Any

from annotation.choices import Platform, ReportKind, ReportOutcome, Source
from annotation.models import (
    BlindingAudit,
    FailedArrival,
    PlatformEvent,
    PlatformStudy,
    PlatformSubmission,
    Report,
    ReportAlert,
    ReportDecision,
    SourceGuess,
)
from completions.choices import LeaseOutcome, MailKind, MessageState, MessageVerdict, SystemKind
from completions.models import (
    AdmissionDecision,
    Dataset,
    Hold,
    Message,
    MessageDecision,
    MessageRevision,
    System,
    WriterMail,
)
from tests.helpers.factories import (
    CREATED,
    NOW,
    digest,
    make_completion,
    make_context,
    make_dataset,
    make_lease,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
    numbers,
    saved,
)

TEXT = "That sounds lonely. What would a good evening look like?"


def make_message(**fields: Any) -> Message:
    """A message without a version; ``make_sent`` has one."""
    lease = partial(make_writing_lease, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
    return saved(Message, fields, {"sent_at": NOW, "changed_at": NOW}, lease=lease)


def make_revision(*, message: Message | None = None, **fields: Any) -> MessageRevision:
    message = message or make_message()
    text = fields.get("text", TEXT)
    usual = {
        "message": message,
        "number": message.revisions.count() + 1,
        "text": text,
        "content_hash": digest(text),
        "is_declared": True,
        "rules": "none",
        "written_at": NOW,
    }
    return saved(MessageRevision, fields, usual)


def make_sent(text: str = TEXT, **fields: Any) -> Message:
    """A message with its first version."""
    message = make_message(**fields)
    make_revision(message=message, text=text)
    return message


def make_accepted(text: str = TEXT, **fields: Any) -> Message:
    """A message that became a completion of the human system."""
    lease = fields.pop("lease", None) or make_writing_lease(
        closed_at=NOW, outcome=LeaseOutcome.SUBMITTED
    )
    completion = make_completion(
        context=lease.context,
        system=human_system(),
        writer=lease.writer,
        text=text,
        content_hash=digest(text),
    )
    return make_sent(
        text, lease=lease, state=MessageState.ACCEPTED, completion=completion, **fields
    )


def human_system() -> System:
    """The system of all supporters who have none of their own."""
    fields = {"name": "Human supporters", "kind": SystemKind.HUMAN}
    return System.objects.get_or_create(slug="human", defaults=fields)[0]


def make_message_decision(**fields: Any) -> MessageDecision:
    usual = {"verdict": MessageVerdict.ACCEPTED, "decided_at": NOW}
    return saved(MessageDecision, fields, usual, revision=make_revision)


def make_admission(**fields: Any) -> AdmissionDecision:
    usual = {"is_admitted": True, "decided_at": NOW}
    return saved(AdmissionDecision, fields, usual, writer=make_writer)


def make_mail(**fields: Any) -> WriterMail:
    usual = {"kind": MailKind.INVITED, "queued_at": NOW}
    return saved(WriterMail, fields, usual, writer=partial(make_writer, email="ada@example.org"))


def make_vetting(n_dialogues: int = 3) -> Dataset:
    """A dataset of trial dialogues; give it to a dataset's ``vetting``."""
    vetting = make_dataset(is_for_checks=True, is_authored=True, completions_per_context=0)
    for _ in range(n_dialogues):
        make_context(dataset=vetting, slots_left=0)
    return vetting


def make_report(**fields: Any) -> Report:
    lease = fields.pop("lease", None) or make_lease()
    parts = {"rater": lease.rater, "context": lease.comparison.context, "lease": lease}
    usual = {"kind": ReportKind.CONTENT, "text": "", "reported_at": NOW}
    return saved(Report, fields, parts | usual)


def make_decision(**fields: Any) -> ReportDecision:
    usual = {"outcome": ReportOutcome.DROPPED, "reason": "names a person", "decided_at": NOW}
    return saved(ReportDecision, fields, usual, study=make_study, context=make_context)


def make_alert(**fields: Any) -> ReportAlert:
    return saved(ReportAlert, fields, CREATED, report=make_report)


def make_guess(**fields: Any) -> SourceGuess:
    usual = {"guess": Source.PERSON, "guessed_at": NOW}
    return saved(SourceGuess, fields, usual, rater=make_rater, completion=make_completion)


def make_submission(**fields: Any) -> PlatformSubmission:
    usual = {"number": 1, "opened_at": NOW, "changed_at": NOW}
    return saved(PlatformSubmission, fields, usual, rater=make_rater)


def make_event(**fields: Any) -> PlatformEvent:
    event_id = f"e-{numbers.next()}"
    usual = {"platform": Platform.PROLIFIC, "event_id": event_id, "kind": "x", "received_at": NOW}
    return saved(PlatformEvent, fields, usual, study=make_study)


def make_platform_study(**fields: Any) -> PlatformStudy:
    usual = CREATED | {"key": f"there-{numbers.next()}", "n_places": 10}
    return saved(PlatformStudy, fields, usual, study=make_study)


def make_failed_arrival(**fields: Any) -> FailedArrival:
    hour = fields.pop("hour", NOW.replace(minute=0, second=0, microsecond=0))
    usual = {"platform": Platform.PROLIFIC, "hour": hour, "first_at": hour, "last_at": hour}
    return saved(FailedArrival, fields, usual, study=make_study)


def make_hold(**fields: Any) -> Hold:
    usual = {"reasons": [], "rules": "leaks-1", "held_at": NOW}
    return saved(Hold, fields, usual, completion=make_completion)


def make_audit(**fields: Any) -> BlindingAudit:
    usual = {"n_pages": 100, "seed": 1, "started_at": NOW, "claimed_at": NOW}
    return saved(BlindingAudit, fields, usual, study=make_study)
