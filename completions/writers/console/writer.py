"""The console's page on one writer, and what an admin does about them."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.choices import Role
from access.roles import StaffRequest, may
from completions.choices import WriterState
from completions.contexts.console_http import or_404, staff_page
from completions.models import Dataset, Writer
from completions.writers import emails, pool_queries, queries
from completions.writers import pool_forms as forms
from completions.writers.credentials import invitation_link
from completions.writers.services import inviting, leasing, leaving, vetting

Act = tuple[Callable[..., object], object]

ACTS: Mapping[str, Act] = {
    "pause": (leaving.pause_writer, gettext_lazy("On pause. Everything is kept.")),
    "resume": (leaving.resume_writer, gettext_lazy("Goes on from here.")),
    "invite-again": (inviting.invite_again, gettext_lazy("The link is sent once more.")),
    "renew-link": (inviting.renew_link, gettext_lazy("There is a new link; no older one works.")),
    "admit": (vetting.admit_writer, gettext_lazy("Admitted.")),
    "refuse": (vetting.refuse_writer, gettext_lazy("Not admitted.")),
}
TOLD = ("admit", "refuse")
"""Acts that the person hears about, with the note."""


@require_safe
@staff_page
def writer(request: StaffRequest, dataset: Dataset, code: str) -> HttpResponse:
    """Show a writer: where they stand, their mails, and what they wrote on trial.

    The link, the address and the name in an imported file are for those who may act.
    """
    return _show(request, or_404(pool_queries.writer_of(dataset, code)))


@require_POST
@staff_page
def act(request: StaffRequest, dataset: Dataset, code: str) -> HttpResponse:
    """Do what was asked for, if it is possible as things stand."""
    found = or_404(pool_queries.writer_of(dataset, code))
    form = forms.Act(request.POST)
    if not form.is_valid():
        return _show(request, found, form=form)
    act = form.cleaned_data["act"]
    service, done = ACTS[act]
    note = {"note": form.cleaned_data["note"]} if act in TOLD else {}
    try:
        service(writer=found, by=request.user, now=timezone.now(), **note)
    except (inviting.CannotBeInvitedError, vetting.TrialNotDoneError) as error:
        messages.error(request, str(error))
    except (leasing.WriterNotActiveError, vetting.NotOnTrialError):
        messages.error(request, _("Nothing changed: as things stand now, that is not possible."))
    else:
        messages.success(request, f"{code}: {done} {_told(found) if act in TOLD else ''}".strip())
    return redirect("writing:writer", dataset.slug, code)


def _told(found: Writer) -> str:
    """Say how a person hears what was decided about them."""
    if found.email:
        return _("A mail tells them.")
    return _("Tell them yourself: they have no address here. The note is on their page.")


def _show(request: StaffRequest, found: Writer, *, form: forms.Act | None = None) -> HttpResponse:
    (row,) = pool_queries.writer_rows(found.dataset, code=found.code)
    has_link, may_reach = found.state not in pool_queries.LINKLESS, may(request, Role.MANAGER)
    link = request.build_absolute_uri(invitation_link(found)) if has_link and may_reach else ""
    parts = {
        "dataset": found.dataset,
        "writer": found,
        "row": row,
        "may_reach": may_reach,
        "link": link,
        "mails": emails.mail_rows(found),
        "is_mail_set_up": emails.is_server_set_up(),
        "consents": found.consents.order_by("-given_at", "-pk"),
        "decisions": found.admission_decisions.select_related("decided_by").order_by("-pk"),
        "trial": queries.trial_of(found),
        "can": _possible(found),
        "form": form or forms.Act(),
    }
    return render(request, "console/writing/writer.html", parts, status=422 if form else 200)


def _possible(found: Writer) -> dict[str, bool]:
    """Say which acts are possible as things stand; the services have the last word."""
    return {
        "pause": found.state in queries.AGREED or found.may_resume,
        "resume": found.state == WriterState.PAUSED,
        "take_back": found.state == WriterState.LEFT,
        "send": found.state in inviting.LINKED and bool(found.email),
        "decide": found.state == WriterState.VETTING,
    }
