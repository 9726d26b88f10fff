"""The console's queue of messages, the page of one, freezing texts, and importing messages."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import read_ticked
from access.roles import StaffRequest
from completions.choices import MessageState, MessageVerdict, Stratum
from completions.contexts.console_http import or_404, owners_act, staff_page
from completions.dialogues.forms import Upload
from completions.dialogues.import_page import ImportPage
from completions.models import Dataset, Message
from completions.writers import forms, message_queries
from completions.writers.importing import WrittenFile, written_file
from completions.writers.message_details import message_details
from completions.writers.message_queries import MessageFilter
from completions.writers.services import importing, leasing, pool, review_decisions
from completions.writers.services.importing import MessageImportReport

OBSTACLES = {error: obstacle for obstacle, error in review_decisions.ERRORS.items()}
REFUSALS: tuple[type[Exception], ...] = (review_decisions.MessageChangedError, *OBSTACLES)


@require_safe
@staff_page
def queue(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """List the messages that the address asks for; without a wish, those that wait."""
    filters = MessageFilter.of(request.GET)
    page = request.GET.get("page", "")
    parts = {
        "dataset": dataset,
        "filters": filters,
        "state": filters.state or MessageState.WAITING,
        "states": message_queries.state_counts(dataset),
        "signals": message_queries.SIGNALS.items(),
        "strata": Stratum.choices,
        "page": message_queries.message_page(dataset, filters, page=page),
        "settled": message_queries.settled(dataset),
    }
    return render(request, "console/writing/messages.html", parts)


@require_safe
@staff_page
def message(request: StaffRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Show one message with all that a reviewer weighs, and the way to decide on it."""
    return _show(request, dataset, pk)


@require_POST
@staff_page
def decide(request: StaffRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Store what the reviewer decided, and go on to the next message that waits."""
    found = or_404(message_queries.message_of(dataset, pk))
    form = forms.DecisionForm(request.POST)
    if not form.is_valid():
        return _show(request, dataset, pk, form=form, status=422, error=form.problem)
    posted = form.cleaned_data
    seen = review_decisions.Seen(posted["version"], posted["decisions"])
    before = found.state
    try:
        decided = review_decisions.decide_message(
            message=found,
            verdict=posted["verdict"],
            note=posted["note"],
            by=request.user,
            now=timezone.now(),
            seen=seen,
        )
    except REFUSALS as error:
        return _show(request, dataset, pk, form=form, status=409, error=_told(error))
    return _next_page(request, dataset, decided, before=before)


@require_POST
@staff_page
def accept_many(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Accept every message that is ticked, as far as it is still as it was on the page."""
    n_accepted = n_changed = 0
    for ticked in read_ticked(request.POST, "messages", most=message_queries.PER_PAGE):
        if (one := _ticked(dataset, ticked)) is None:
            continue
        found, seen = one
        try:
            review_decisions.decide_message(
                message=found,
                verdict=MessageVerdict.ACCEPTED,
                note="",
                by=request.user,
                now=timezone.now(),
                seen=seen,
            )
        except REFUSALS:
            n_changed += 1
        else:
            n_accepted += 1
    if n_accepted:
        text = ngettext("%(n)s message accepted.", "%(n)s messages accepted.", n_accepted)
        messages.success(request, text % {"n": f"{n_accepted:,}"})
    if n_changed or not n_accepted:
        text = _("%(n)s not accepted: read them one by one, for they changed since.")
        messages.error(request, text % {"n": f"{n_changed:,}"})
    query = MessageFilter.of(request.GET).query
    return redirect(f"{reverse('writing:messages', args=[dataset.slug])}?{query}")


def _ticked(dataset: Dataset, ticked: str) -> tuple[Message, review_decisions.Seen] | None:
    """Return the message of a tick and what the page showed: ``key-version-decisions``."""
    if (read := re.fullmatch(r"(\d{1,15})-(\d{1,15})-(\d{1,15})", ticked)) is None:
        return None
    pk, version, decisions = map(int, read.groups())
    found = message_queries.message_of(dataset, pk)
    return None if found is None else (found, review_decisions.Seen(version, decisions))


@require_POST
@owners_act
def author(request: StaffRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Tell who wrote the message, on this one page, and log that it was asked."""
    found = or_404(message_queries.message_of(dataset, pk))
    told = review_decisions.reveal_author(message=found, by=request.user, now=timezone.now())
    return _show(request, dataset, pk, author=told)


def _show(
    request: StaffRequest, dataset: Dataset, pk: int, *, status: int = 200, **more: object
) -> HttpResponse:
    filters = MessageFilter.of(request.GET)
    parts = {
        "dataset": dataset,
        "filters": filters,
        "shown": or_404(message_details(dataset, pk=pk)),
        "place": message_queries.place_of(dataset, filters, pk=pk),
        **more,
    }
    return render(request, "console/writing/message.html", parts, status=status)


def _told(error: Exception) -> str:
    """Say why a decision was refused; the page below shows what there is now."""
    if (against := OBSTACLES.get(type(error))) is not None:
        return str(message_queries.REASONS[against])
    return _(
        "Nothing was decided: while you were reading, somebody else decided on this message, or "
        "its writer sent another version. Below is what there is now; your note is kept."
    )


def _next_page(
    request: StaffRequest, dataset: Dataset, decided: Message, *, before: str
) -> HttpResponse:
    """Lead to the next message, and say what happened to this one, with the way back to it."""
    filters = MessageFilter.of(request.GET)
    here = _address(dataset, decided.pk, filters)
    label = MessageState(decided.state).label
    link = format_html('<a href="{}">{}</a>', here, _("message %(pk)s") % {"pk": decided.pk})
    messages.success(request, format_html("{}: {}", label, link))
    if before != MessageState.WAITING:
        return redirect(here)
    following = message_queries.place_of(dataset, filters, pk=decided.pk)["next_waiting"]
    if following is None:
        messages.success(request, _("Nothing else waits here."))
        return redirect(f"{reverse('writing:messages', args=[dataset.slug])}?{filters.query}")
    return redirect(_address(dataset, following, filters))


def _address(dataset: Dataset, pk: int, filters: MessageFilter) -> str:
    return reverse("writing:message", args=[dataset.slug, pk]) + filters.suffix


@require_POST
@staff_page
def freeze(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Freeze the texts, or thaw them, if the box says that it is meant."""
    form = forms.Freeze(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: tick the box if you mean it."))
    elif form.cleaned_data["act"] == "freeze":
        n = pool.freeze_dataset(dataset=dataset, by=request.user, now=timezone.now())
        messages.success(request, _frozen(n))
    else:
        pool.thaw_dataset(dataset=dataset, by=request.user, now=timezone.now())
        messages.success(request, _("Thawed: people can write and revise again."))
    return redirect("writing:messages", dataset.slug)


def _frozen(n_given_back: int) -> str:
    return ngettext(
        "Frozen. %(n)s open claim was given back, and its draft is kept.",
        "Frozen. %(n)s open claims were given back, and their drafts are kept.",
        n_given_back,
    ) % {"n": n_given_back}


class MessageImport(ImportPage[MessageImportReport]):
    """Messages for one dataset."""

    template = "console/writing/import.html"
    upload = Upload
    read = staticmethod(written_file)
    closed: ClassVar = {
        leasing.DatasetFrozenError: gettext_lazy("The dataset is frozen: nothing was stored.")
    }

    def __init__(self, request: StaffRequest, dataset: Dataset) -> None:
        super().__init__(
            request,
            name=dataset.slug,
            holder=f"{dataset.slug} {request.user.pk}",
            address=reverse("writing:import", args=[dataset.slug]),
            done=reverse("writing:messages", args=[dataset.slug]),
            dataset=dataset,
        )
        self.dataset = dataset

    def attempt(self, rows: WrittenFile, given: Mapping[str, Any]) -> MessageImportReport:
        """Return what would become of them."""
        return importing.try_messages(
            dataset=self.dataset,
            rows=rows,
            now=timezone.now(),
            are_accepted=given["are_accepted"],
        )

    def keep(
        self, rows: WrittenFile, given: Mapping[str, Any], *, as_shown: str
    ) -> MessageImportReport:
        """Store them."""
        return importing.import_messages(
            dataset=self.dataset,
            rows=rows,
            now=timezone.now(),
            by=self.request.user,
            are_accepted=given["are_accepted"],
            as_shown=as_shown,
        )

    def said(self, report: MessageImportReport) -> str:
        """Say how many wait, and how many are accepted."""
        return ngettext(
            "%(n)s message is stored: %(waiting)s to review, %(accepted)s accepted.",
            "%(n)s messages are stored: %(waiting)s to review, %(accepted)s accepted.",
            report.n_stored,
        ) % {
            "n": f"{report.n_stored:,}",
            "waiting": f"{report.n_waiting:,}",
            "accepted": f"{report.n_accepted:,}",
        }
