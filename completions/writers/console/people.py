"""The console's pages on the people who write for a dataset: the pool, and each of them."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from access.choices import Role
from access.roles import StaffRequest, may, members_only
from completions.choices import WriterState
from completions.contexts.console_http import or_404, staff_page
from completions.models import Dataset, Writer
from completions.writers import emails, forms, pool_queries, queries
from completions.writers.credentials import invitation_link, new_code
from completions.writers.pool_queries import WRITERS
from completions.writers.services import inviting, leasing, leaving, vetting
from completions.writers.services.pool import (
    MessagesTakenError,
    PoolChangedError,
    PoolSettings,
    configure_pool,
)

MOST_NAMED = 5
_CHANGED = gettext_lazy(
    "Somebody changed the settings after you opened this page. Look at it in another tab, take "
    "over what is new, and keep yours again."
)


@require_safe
@members_only()
def datasets(request: HttpRequest) -> HttpResponse:
    """List the datasets with who writes for them, and how much of it is there."""
    rows = pool_queries.dataset_rows()
    return render(request, "console/writing/datasets.html", {"datasets": rows})


@require_safe
@staff_page
def pool(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Show the people who write for a dataset."""
    return _show_pool(request, dataset)


@require_POST
@staff_page
def invite(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Invite people by their addresses, or only count whom that would reach."""
    form = forms.Invite(request.POST)
    if not form.is_valid():
        return _show_pool(request, dataset, invite=form, status=422)
    good, bad = form.cleaned_data["emails"]
    if form.cleaned_data["is_dry"]:
        messages.info(request, _would_invite(dataset, good, bad))
        return _show_pool(request, dataset, invite=form)
    try:
        new, known = inviting.invite_writers(
            dataset=dataset, emails=good, by=request.user, now=timezone.now()
        )
    except inviting.CannotBeInvitedError as error:
        messages.error(request, str(error))
        return redirect("writing:pool", dataset.slug)
    messages.success(request, _invited(len(new), len(known)))
    if bad:
        messages.error(request, _not_addresses(bad))
    return redirect("writing:pool", dataset.slug)


@require_POST
@staff_page
def make_link(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Invite somebody without an address; whoever invites passes the link on."""
    form, now = forms.Link(request.POST), timezone.now()
    code = form.cleaned_data["code"] if form.is_valid() else ""
    try:
        writer = inviting.invite_writer(dataset=dataset, code=code, by=request.user, now=now)
    except inviting.CannotBeInvitedError as error:
        messages.error(request, str(error))
        return redirect("writing:pool", dataset.slug)
    if writer.invited_at == now:
        messages.success(request, _("There is a new link on this page. Pass it on to one person."))
    else:
        messages.info(request, _("This link was made already, by your first click."))
    return redirect("writing:writer", dataset.slug, writer.code)


@require_POST
@staff_page
def settings(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Set how the pool works from now on."""
    form, seen = forms.Settings(request.POST), request.POST.get("seen", "")
    try:
        if form.is_valid():
            asked, by = form.settings(), request.user
            configure_pool(dataset=dataset, settings=asked, now=timezone.now(), by=by, seen=seen)
    except MessagesTakenError as error:
        form.say_taken(error.n_dialogues)
    except PoolChangedError:
        form.add_error(None, _CHANGED)
        seen = ""
    if form.errors:
        return _show_pool(request, dataset, settings=form, seen=seen, status=422)
    messages.success(request, _("Kept. It holds for everything that is handed out from now on."))
    return redirect("writing:pool", dataset.slug)


@require_POST
@staff_page
def trial(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Switch the trial of newcomers on or off."""
    form = forms.VettingForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing changed: choose whether newcomers write on trial."))
        return redirect("writing:pool", dataset.slug)
    is_on = form.cleaned_data["is_on"]
    vetting.use_vetting(dataset=dataset, is_on=is_on, by=request.user, now=timezone.now())
    done = _("Newcomers write on trial first."), _("Newcomers are let in at once.")
    messages.success(request, done[0] if is_on else done[1])
    return redirect("writing:pool", dataset.slug)


def _show_pool(
    request: StaffRequest,
    dataset: Dataset,
    *,
    invite: forms.Invite | None = None,
    settings: forms.Settings | None = None,
    seen: str = "",
    status: int = 200,
) -> HttpResponse:
    filters = WRITERS.asked(request)
    rows, held = pool_queries.writer_rows(dataset), PoolSettings.of(dataset)
    parts = {
        "dataset": dataset,
        "filters": filters,
        "rows": filters.listed(rows),
        "n_all": len(rows),
        "n_to_decide": sum(row.is_to_decide for row in rows),
        "states": pool_queries.n_in_state(rows),
        "invite": invite or forms.Invite(),
        "new_code": new_code("W"),
        "settings": settings or forms.Settings.showing(held),
        "seen": seen or held.seen,
        "is_mail_set_up": emails.is_server_set_up(),
    }
    return render(request, "console/writing/pool.html", parts, status=status)


def _would_invite(dataset: Dataset, good: list[str], bad: list[str]) -> str:
    n_known = pool_queries.n_known(dataset, good)
    return _(
        "Nobody was invited yet. Would be invited: %(new)s. In the pool already: %(known)s. "
        "Not an e-mail address: %(bad)s."
    ) % {"new": f"{len(good) - n_known:,}", "known": f"{n_known:,}", "bad": f"{len(bad):,}"}


def _invited(n: int, n_known: int) -> str:
    told = ngettext("%(n)s person is invited.", "%(n)s people are invited.", n) % {"n": f"{n:,}"}
    if n_known:
        told += " " + _("In the pool already, and left as they are: %(n)s.") % {"n": f"{n_known:,}"}
    return told


def _not_addresses(bad: list[str]) -> str:
    named = ", ".join(word[:60] for word in bad[:MOST_NAMED])
    if len(bad) > MOST_NAMED:
        named += " ..."
    n = len(bad)
    return ngettext(
        "Not an e-mail address, and not invited: %(named)s",
        "%(n)s are no e-mail addresses, and were not invited: %(named)s",
        n,
    ) % {"n": f"{n:,}", "named": named}


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
    return _show_writer(request, or_404(pool_queries.writer_of(dataset, code)))


@require_POST
@staff_page
def act(request: StaffRequest, dataset: Dataset, code: str) -> HttpResponse:
    """Do what was asked for, if it is possible as things stand."""
    found = or_404(pool_queries.writer_of(dataset, code))
    form = forms.Act(request.POST)
    if not form.is_valid():
        return _show_writer(request, found, form=form)
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


def _show_writer(
    request: StaffRequest, found: Writer, *, form: forms.Act | None = None
) -> HttpResponse:
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
