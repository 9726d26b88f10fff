"""A writer's way through the pages, for tests."""

import io
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from completions.choices import LeaseOutcome, WriterState
from completions.models import Dataset, Writer, WritingLease
from completions.writers.credentials import credential, invitation_link
from completions.writers.http import COOKIE
from tests.helpers.factories import NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_vetting
from tests.helpers.visits import read_forms
from tests.helpers.written import make_open_context

TEXT = "That is a quiet kind of lonely. What would you tell your sister if she had an hour?"
MESSAGE = {"text": TEXT, "is_own_words": "on"}
SENT: dict[str, Any] = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}
"""What a lease is under which a message was sent."""


def url(name: str, *args: Any) -> str:
    return reverse(f"completions:{name}", args=args)


def sign_in(client: Client, writer: Writer) -> None:
    """Give the browser the cookie that the personal link gives."""
    client.cookies[COOKIE] = credential(writer, use="cookie")


def make_pool(*, n_contexts: int = 2, slots_left: int = 3) -> Writer:
    """Return an active writer for whom ``n_contexts`` wait."""
    writer = make_writer()
    for _ in range(n_contexts):
        make_open_context(writer.dataset, slots_left)
    return writer


def make_newcomer(n_dialogues: int = 3, *, dataset: Dataset | None = None, **fields: Any) -> Writer:
    """Return a writer on trial, for whom so many trial dialogues wait."""
    dataset = dataset or make_dataset(vetting=make_vetting(n_dialogues))
    return make_writer(
        dataset=dataset, **{"state": WriterState.VETTING, "admitted_at": None} | fields
    )


def take_dialogue(client: Client) -> WritingLease:
    """Go to the next dialogue, and return the lease behind it."""
    client.get(url("next"))
    return WritingLease.objects.get(closed_at=None)


def shown(page: Any) -> str:
    return str(page.content.decode())


def box(page: Any) -> str:
    """Return what stands in the text box."""
    (form,) = [form for form in read_forms(page) if form.id == "message"]
    return form.fields["text"]


def run_writers(*arguments: str, dataset: str = "talks") -> tuple[str, str]:
    """Run ``manage.py writers``; return what is said on standard output, and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("writers", *arguments, "--dataset", dataset, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def open_link(client: Client, writer: Writer, **options: Any) -> Any:
    return client.get(invitation_link(writer), **options)
