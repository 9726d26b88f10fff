"""The console's pages on people, with their forms: find one, see what is held, withdraw them."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import Role
from access.console.tables import csv_of
from access.evidence import evidence_of
from access.roles import Needs, StaffRequest, members_only
from annotation.models import Rater
from annotation.raters import person_queries
from annotation.raters.services import entering, withdrawing
from annotation.retention import queries
from completions.dialogues.forms import TypedTextField
from completions.models import Writer
from ranking.fits import stale_queries

MAX_ASKED = 200
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
OWNERS = Needs(reads=Role.OWNER, acts=Role.OWNER)


@never_cache
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
        context["found"] = person_queries.find_people(text)
        context["evidence"] = evidence_of(text)
        context["has_asked"] = True
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "console/people/people.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only(OWNERS)
def person(request: StaffRequest, code: str) -> HttpResponse:
    """Show what is held about somebody, and withdraw them at their own wish."""
    found = person_queries.rater_of(code) or person_queries.writer_of(code)
    if found is None:
        raise Http404
    form = Leaving(request.POST if request.method == "POST" else None)
    if form.is_valid():
        _withdraw(found, form, request)
        messages.success(request, _("%(code)s has withdrawn.") % {"code": code})
        return redirect("people:person", code)
    is_rater = isinstance(found, Rater)
    held, affected = (
        (person_queries.held_of_rater(found), stale_queries.of_rater(found))
        if isinstance(found, Rater)
        else (person_queries.held_of_writer(found), stale_queries.of_writer(found))
    )
    context = {"held": held, "affected": affected, "is_rater": is_rater, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "console/people/person.html", context, status=status)


@never_cache
@require_POST
@members_only(OWNERS)
def unbind(request: StaffRequest, code: str) -> HttpResponse:
    """Let the next browser that comes with a rater's id be theirs."""
    found = person_queries.rater_of(code)
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


@never_cache
@require_safe
@members_only(OWNERS)
def retention(request: StaffRequest) -> HttpResponse:
    """Show what is held about people, and when it falls due to be deleted."""
    query = queries.HELD.asked(request)
    rows = query.listed(queries.what_is_due(now=timezone.now()))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "filters": query, "policy": queries.policy()}
    return render(request, "console/people/retention.html", context)


@never_cache
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
