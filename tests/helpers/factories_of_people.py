"""Builders of messages and decisions on them, of reports, guesses, events, audits and holds."""

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
    WritingLease,
)
from tests.helpers.factories import (
    NOW,
    digest,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_lease,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
    numbers,
)

TEXT = "That sounds lonely. What would a good evening look like?"


def make_message(*, lease: WritingLease | None = None, **fields: Any) -> Message:
    """A message without a version; ``make_sent`` has one."""
    lease = lease or make_writing_lease(closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
    return Message.objects.create(lease=lease, **{"sent_at": NOW, "changed_at": NOW} | fields)


def make_revision(*, message: Message | None = None, **fields: Any) -> MessageRevision:
    message = message or make_message()
    text = fields.get("text", TEXT)
    return MessageRevision.objects.create(
        message=message,
        **{
            "number": message.revisions.count() + 1,
            "text": text,
            "content_hash": digest(text),
            "is_declared": True,
            "rules": "none",
            "written_at": NOW,
        }
        | fields,
    )


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
    revision = fields.pop("revision", None) or make_revision()
    row = {"verdict": MessageVerdict.ACCEPTED, "decided_at": NOW}
    return MessageDecision.objects.create(revision=revision, **row | fields)


def make_admission(**fields: Any) -> AdmissionDecision:
    writer = fields.pop("writer", None) or make_writer()
    row = {"is_admitted": True, "decided_at": NOW}
    return AdmissionDecision.objects.create(writer=writer, **row | fields)


def make_mail(**fields: Any) -> WriterMail:
    writer = fields.pop("writer", None) or make_writer(email="ada@example.org")
    row = {"kind": MailKind.INVITED, "queued_at": NOW}
    return WriterMail.objects.create(writer=writer, **row | fields)


def make_vetting(n_dialogues: int = 3) -> Dataset:
    """A dataset of trial dialogues; give it to a dataset's ``vetting``."""
    vetting = make_dataset(is_for_checks=True, is_authored=True, completions_per_context=0)
    for _ in range(n_dialogues):
        make_context(dialogue=make_dialogue(dataset=vetting), slots_left=0)
    return vetting


def make_report(**fields: Any) -> Report:
    lease = fields.pop("lease", None) or make_lease()
    row = {"rater": lease.rater, "context": lease.comparison.context, "lease": lease}
    return Report.objects.create(
        **row | {"kind": ReportKind.CONTENT, "text": "", "reported_at": NOW} | fields
    )


def make_decision(**fields: Any) -> ReportDecision:
    row = {"outcome": ReportOutcome.DROPPED, "reason": "names a person", "decided_at": NOW}
    return ReportDecision.objects.create(study=make_study(), context=make_context(), **row | fields)


def make_alert(**fields: Any) -> ReportAlert:
    report = fields.pop("report", None) or make_report()
    return ReportAlert.objects.create(report=report, **{"created_at": NOW} | fields)


def make_guess(**fields: Any) -> SourceGuess:
    rater = fields.pop("rater", None) or make_rater()
    completion = fields.pop("completion", None) or make_completion()
    return SourceGuess.objects.create(
        rater=rater,
        completion=completion,
        **{"guess": Source.PERSON, "guessed_at": NOW} | fields,
    )


def make_submission(**fields: Any) -> PlatformSubmission:
    rater = fields.pop("rater", None) or make_rater()
    row = {"number": 1, "opened_at": NOW, "changed_at": NOW}
    return PlatformSubmission.objects.create(rater=rater, **row | fields)


def make_event(**fields: Any) -> PlatformEvent:
    study = fields.pop("study", None) or make_study()
    row = {
        "platform": Platform.PROLIFIC,
        "event_id": f"e-{numbers.next()}",
        "kind": "x",
        "received_at": NOW,
    }
    return PlatformEvent.objects.create(study=study, **row | fields)


def make_platform_study(**fields: Any) -> PlatformStudy:
    study = fields.pop("study", None) or make_study()
    row = {"key": f"there-{numbers.next()}", "n_places": 10, "created_at": NOW}
    return PlatformStudy.objects.create(study=study, **row | fields)


def make_failed_arrival(**fields: Any) -> FailedArrival:
    study = fields.pop("study", None) or make_study()
    hour = fields.pop("hour", NOW.replace(minute=0, second=0, microsecond=0))
    row = {"platform": Platform.PROLIFIC, "hour": hour, "first_at": hour, "last_at": hour}
    return FailedArrival.objects.create(study=study, **row | fields)


def make_hold(**fields: Any) -> Hold:
    completion = fields.pop("completion", None) or make_completion()
    row = {"reasons": [], "rules": "leaks-1", "held_at": NOW}
    return Hold.objects.create(completion=completion, **row | fields)


def make_audit(**fields: Any) -> BlindingAudit:
    study = fields.pop("study", None) or make_study()
    row = {"n_pages": 100, "seed": 1, "started_at": NOW, "claimed_at": NOW}
    return BlindingAudit.objects.create(study=study, **row | fields)
