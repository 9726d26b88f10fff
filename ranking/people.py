"""The console's pages on people, with their forms: find one, see what is held, withdraw them."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.console.tables import csv_of
from access.evidence import evidence_of
from access.roles import OWNERS, StaffRequest, members_only
from annotation.choices import RaterState
from annotation.models import Judgment, Rater
from annotation.raters.services import entering, withdrawing
from annotation.retention import queries
from completions.choices import WriterState
from completions.dialogues.forms import TypedTextField
from completions.models import Message, MessageRevision, Writer
from ranking.fits.queries import resting_on_rater, resting_on_writer

MAX_ASKED = 200
MOST_FOUND = 50  # of raters, and of writers
MAX_REASON = 500
NOBODY_ASKED = gettext_lazy("Write a code, an id of a platform, or an address.")
NO_REASON = gettext_lazy("Write in a few words how the person asked for it, without naming them.")
NO_CHOICE = gettext_lazy("Nothing changed: say what is to become of the data.")


class Search(forms.Form):
    """Whom somebody means."""

    asked = forms.CharField(max_length=MAX_ASKED, error_messages={"required": NOBODY_ASKED})


class Leaving(forms.Form):
    """What is to become of somebody's data, and how they asked for it."""

    wish = forms.ChoiceField(
        choices=[("anonymise", "anonymise"), ("delete", "delete")],
        error_messages={"required": NO_CHOICE, "invalid_choice": NO_CHOICE},
    )
    reason = TypedTextField(
        max_length=MAX_REASON,
        error_messages={"required": NO_REASON, "max_length": gettext_lazy("Say it more briefly.")},
    )

    @property
    def problem(self) -> str:
        """Return the first thing that is wrong, in words."""
        return next((str(words[0]) for words in self.errors.values()), "")


PER_PAGE = 50
COLUMNS = ("what", "of", "how_many", "goes_on", "is_due")


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("asked")
@members_only(OWNERS)
def people(request: StaffRequest) -> HttpResponse:
    """Find people by code, id or address, and what they agreed to.

    What is asked comes in the body alone, so that no log, history or address has it.
    """
    form = Search(request.POST if request.method == "POST" else None)
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        text = form.cleaned_data["asked"]
        context["found"] = _find_people(text)
        context["evidence"] = evidence_of(text)
        context["has_asked"] = True
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "console/people/people.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only(OWNERS)
def person(request: StaffRequest, code: str) -> HttpResponse:
    """Show what is held about somebody, and withdraw them at their own wish."""
    found = _rater_of(code) or _writer_of(code)
    if found is None:
        raise Http404
    form = Leaving(request.POST if request.method == "POST" else None)
    if form.is_valid():
        _withdraw(found, form, request)
        messages.success(request, _("%(code)s has withdrawn.") % {"code": code})
        return redirect("people:person", code)
    held = _held_of_rater(found) if isinstance(found, Rater) else _held_of_writer(found)
    context = {"person": found, "is_rater": isinstance(found, Rater), "form": form, **held}
    status = 422 if form.is_bound else 200
    return render(request, "console/people/person.html", context, status=status)


@require_POST
@members_only(OWNERS)
def unbind(request: StaffRequest, code: str) -> HttpResponse:
    """Let the next browser that comes with a rater's id be theirs."""
    found = _rater_of(code)
    if found is None:
        raise Http404
    try:
        entering.release_binding(rater=found, by=request.user, now=timezone.now())
    except ValueError:
        messages.error(request, _("%(code)s has no ID to come back with.") % {"code": code})
    else:
        text = _("%(code)s can come back by the link of the platform, in any browser.")
        messages.success(request, text % {"code": code})
    return redirect("people:person", code)


@require_safe
@members_only(OWNERS)
def retention(request: StaffRequest) -> HttpResponse:
    """Show what is held about people, and when it falls due to be deleted."""
    query = queries.HELD.asked(request)
    rows = query.listed(queries.what_is_due(now=timezone.now()))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "filters": query, "policy": queries.policy()}
    return render(request, "console/people/retention.html", context)


@require_safe
@members_only(OWNERS)
def retention_csv(request: StaffRequest) -> StreamingHttpResponse:
    """Download the same, in the same order."""
    rows = queries.HELD.asked(request).listed(queries.what_is_due(now=timezone.now()))
    cells = (
        (
            one.kind.value,
            one.subject,
            one.n,
            one.due_on.isoformat() if one.due_on else None,
            one.is_due,
        )
        for one in rows
    )
    return csv_of(request, "retention", COLUMNS, cells)


def _withdraw(found: Rater | Writer, form: Leaving, request: StaffRequest) -> None:
    keep = form.cleaned_data["wish"] == "anonymise"
    now, by, reason = timezone.now(), request.user, form.cleaned_data["reason"]
    if isinstance(found, Rater):
        withdrawing.withdraw_rater(rater=found, keep_answers=keep, now=now, by=by, reason=reason)
    else:
        withdrawing.withdraw_writer(writer=found, keep_texts=keep, now=now, by=by, reason=reason)


def _find_people(text: str) -> list[Rater | Writer]:
    """Return whom a code, a platform's id or an address means, in two queries."""
    text = text.strip()
    if not text:
        return []
    raters = Rater.objects.filter(Q(code__iexact=text) | Q(external_id__iexact=text))
    writers = Writer.objects.filter(
        Q(code__iexact=text) | Q(email__iexact=text) | Q(imported_as__iexact=text)
    )
    return [
        *raters.select_related("study").order_by("-entered_at")[:MOST_FOUND],
        *writers.select_related("dataset").order_by("-invited_at")[:MOST_FOUND],
    ]


def _rater_of(code: str) -> Rater | None:
    return Rater.objects.select_related("study").filter(code=code).first()


def _writer_of(code: str) -> Writer | None:
    return Writer.objects.select_related("dataset").filter(code=code).first()


def _held_of_rater(rater: Rater) -> dict[str, object]:
    """Return what is held about a rater, in eight queries, and the results that rest on it.

    ``links`` says of each link to the person whether there is one; what it is, is shown nowhere.
    ``is_bound`` says whether their browser is the only one that a platform's link lets in.
    """
    given = Judgment.objects.filter(rater=rater).aggregate(**_counted("rationale"))
    reports = rater.reports.aggregate(**_counted("text"))
    submissions = list(rater.submissions.order_by("number"))
    return {
        "is_withdrawn": rater.state == RaterState.WITHDRAWN,
        "is_erased": not rater.data_kept,
        "consents": list(rater.consents.order_by("given_at").values_list("version", "given_at")),
        "links": [
            (_("id of the platform"), bool(rater.external_id)),
            (_("session of the platform"), any(one.session_id for one in submissions)),
            (_("time zone"), rater.utc_offset_minutes is not None),
            (_("the same person as a writer"), rater.writer_id is not None),
            (_("messages of the platform"), rater.platform_events.exists()),
        ],
        "counts": [
            (_("judgments"), given["n"]),
            (_("reasons"), given["worded"]),
            (_("pairs handed out"), rater.leases.count()),
            (_("reports"), reports["n"]),
            (_("words in reports"), reports["worded"]),
            (_("guesses who wrote"), rater.source_guesses.count()),
            (_("decisions to leave out or take back"), rater.exclusions.count()),
        ],
        "submissions": submissions,
        "is_bound": bool(rater.external_id and rater.bound_by),
        "affected": resting_on_rater(rater),
    }


def _counted(text: str) -> dict[str, Count]:
    """Return how to count rows, and those of them that have words."""
    return {"n": Count("pk"), "worded": Count("pk", filter=~Q(**{text: ""}))}


def _held_of_writer(writer: Writer) -> dict[str, object]:
    """Return the same about a writer, in eight queries."""
    versions = MessageRevision.objects.filter(message__lease__writer=writer)
    messages_written = Message.objects.filter(lease__writer=writer)
    texts = writer.completions.filter(erased_at=None)
    return {
        "is_withdrawn": writer.state == WriterState.WITHDRAWN,
        "is_erased": not writer.texts_kept,
        "consents": list(writer.consents.order_by("given_at").values_list("version", "given_at")),
        "links": [
            (_("mail address"), bool(writer.email)),
            (_("background"), bool(writer.background)),
            (_("name in an imported file"), bool(writer.imported_as)),
        ],
        "counts": [
            (_("messages"), messages_written.count()),
            (_("versions of them with their text"), versions.filter(erased_at=None).count()),
            (_("texts that studies may compare"), texts.count()),
            (_("conversations handed out"), writer.leases.count()),
            (_("drafts"), writer.leases.exclude(draft="").count()),
            (_("mails sent"), writer.mails.filter(sent_at__isnull=False).count()),
            (_("mails that wait"), writer.mails.filter(sent_at=None).count()),
        ],
        "affected": resting_on_writer(writer),
    }
