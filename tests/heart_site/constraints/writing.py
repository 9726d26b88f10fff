"""Ways to break the rules of writers, their messages and the mails to them."""

from functools import partial
from typing import Any

from completions.choices import MessageState, MessageVerdict, WriterState
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_dataset,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import (
    make_accepted,
    make_admission,
    make_mail,
    make_message,
    make_message_decision,
    make_revision,
)
from tests.helpers.factories_written_once import make_writer_consent

ELSEWHERE: dict[str, Any] = {"state": WriterState.ELSEWHERE, "imported_as": "author 7"}
RETURNED = MessageVerdict.RETURNED

WRITERS = [
    Case("Writer.code", twice(make_writer, code="W1")),
    Case("writer_code_given", partial(make_writer, code="")),
    Case("writer_state_known", partial(make_writer, state="OTHER")),
    Case(
        "writer_background_known",
        partial(make_writer, background="OTHER"),
        partial(make_writer, background=""),
    ),
    Case(
        "writer_active_when_admitted",
        partial(make_writer, admitted_at=None),
        partial(make_writer, admitted_at=None, state=WriterState.VETTING),
    ),
    Case(
        "writer_resumes_from_pause",
        partial(make_writer, may_resume=True),
        partial(make_writer, may_resume=True, state=WriterState.PAUSED),
    ),
    Case(
        "writer_texts_kept_unless_withdrawn",
        partial(make_writer, texts_kept=False),
        partial(make_writer, texts_kept=False, state=WriterState.WITHDRAWN),
    ),
    Case(
        "writer_imported_writes_elsewhere",
        partial(make_writer, imported_as="author 7"),
        partial(make_writer, **ELSEWHERE),
    ),
    Case(
        "writer_imported_once_per_dataset",
        twice(make_writer, dataset=make_dataset, **ELSEWHERE),
        twice(make_writer, **ELSEWHERE),
    ),
    Case(
        "writer_invited_once_per_dataset",
        twice(make_writer, dataset=make_dataset, email="a@example.org"),
        twice(make_writer, dataset=make_dataset, email=""),
        "several without an address",
    ),
    Case(
        "writerconsent_once_per_text",
        twice(make_writer_consent, writer=make_writer),
        twice(make_writer_consent, writer=make_writer, changed={"version": "2"}),
    ),
    Case(
        "admissiondecision_refused_with_note",
        partial(make_admission, is_admitted=False),
        partial(make_admission, is_admitted=False, note="It gives medical advice."),
    ),
    Case("writermail_kind_known", partial(make_mail, kind="OTHER")),
    Case(
        "writermail_claimed_before_sent",
        partial(make_mail, sent_at=NOW),
        partial(make_mail, claimed_at=NOW, sent_at=NOW),
        "never claimed",
    ),
    Case(
        "writermail_claimed_before_sent",
        partial(make_mail, claimed_at=NOW + HOUR, sent_at=NOW),
        label="claimed after it was sent",
    ),
]

MESSAGES = [
    Case("Message.lease", twice(make_message, lease=make_writing_lease)),
    Case(
        "Message.completion",
        twice(make_message, completion=make_completion),
        twice(make_message),
    ),
    Case("message_state_known", partial(make_message, state="OTHER")),
    Case(
        "message_accepted_has_completion",
        partial(make_message, state=MessageState.ACCEPTED),
        make_accepted,
    ),
    Case(
        "message_completion_only_in_use",
        lambda: make_message(state=MessageState.REJECTED, completion=make_completion()),
        lambda: make_message(state=MessageState.WAITING, completion=make_completion()),
        "rejected",
    ),
    Case(
        "message_completion_only_in_use",
        lambda: make_message(state=MessageState.TRIAL, completion=make_completion()),
        label="on trial",
    ),
    Case(
        "messagerevision_numbered_once",
        twice(make_revision, message=make_message, number=1),
        twice(make_revision, message=make_message, number=1, changed={"number": 2}),
    ),
    Case("messagerevision_number_from_one", partial(make_revision, number=0), make_revision),
    Case(
        "messagerevision_text_unless_erased",
        partial(make_revision, text=""),
        partial(make_revision, text="", erased_at=NOW),
        "no text",
    ),
    Case(
        "messagerevision_text_unless_erased",
        partial(make_revision, erased_at=NOW),
        label="erased with a text",
    ),
    Case(
        "messagedecision_verdict_known", partial(make_message_decision, verdict="OTHER", note="x")
    ),
    Case(
        "messagedecision_unless_accepted_with_note",
        partial(make_message_decision, verdict=RETURNED),
        partial(make_message_decision, verdict=RETURNED, note="Please say it in one sentence."),
    ),
]

CASES = [*WRITERS, *MESSAGES]
