"""The console's pages on the team, with their forms: who is in it, with which role."""

import datetime as dt

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import Role
from access.console.tables import Table, csv_of
from access.members import services as member_services
from access.roles import OWNERS, StaffRequest, members_only, role_of, team, with_roles

COLUMNS = (
    *("username", "email", "role", "since"),
    *("last_signed_in", "has_password", "has_second_factor"),
)
MEMBERS = Table(
    orders={
        "member": (gettext_lazy("Member"), ("username",)),
        "role": (gettext_lazy("Role"), ("member__role", "username")),
        "factor": (gettext_lazy("Second factor"), ("has_second_factor", "username")),
        "last": (gettext_lazy("Last signed in"), ("last_login",)),
    },
    usual="member",
    shows={
        "owners": (gettext_lazy("Owners"), Q(is_superuser=True) | Q(member__role=Role.OWNER)),
        "managers": (gettext_lazy("Managers"), Q(is_superuser=False, member__role=Role.MANAGER)),
        "analysts": (gettext_lazy("Analysts"), Q(is_superuser=False, member__role=Role.ANALYST)),
        "unsafe": (gettext_lazy("Without a second factor"), Q(has_second_factor=False)),
    },
    searched=("username", "email"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only(OWNERS)
def members(request: StaffRequest) -> HttpResponse:
    """List the team, and add somebody; their link is on the page that answers."""
    form, link = MemberForm(request.POST or None), ""
    if form.is_bound and form.is_valid():
        try:
            user = member_services.add_member(
                form.cleaned_data["username"],
                form.chosen(),
                email=form.cleaned_data["email"],
                now=timezone.now(),
                by=request.user,
            )
        except member_services.MemberRefusedError as error:
            form.add_error(None, str(error))
        else:
            form, link = MemberForm(), _link(request, user)
    query = MEMBERS.asked(request)
    page = query.page(team(), request.GET.get("page", ""))
    rows = with_roles(page)
    parts = {"form": form, "link": link, "page": page, "rows": rows, "filters": query}
    status = 422 if form.errors else 200
    return render(request, "console/members/members.html", parts, status=status)


@require_safe
@members_only(OWNERS)
def members_csv(request: StaffRequest) -> StreamingHttpResponse:
    """Download the same members, in the same order."""
    rows = with_roles(MEMBERS.asked(request).apply(team()))
    cells = (
        (
            *(one.username, one.email, role.value, _since(one)),
            *(one.last_login, one.has_usable_password(), vars(one)["has_second_factor"]),
        )
        for one, role in rows
    )
    return csv_of(request, "members", COLUMNS, cells)


@require_safe
@members_only(OWNERS)
def member(request: StaffRequest, pk: int) -> HttpResponse:
    """Show one member, and what can be done about them."""
    return _member_page(request, _user(pk))


@require_POST
@members_only(OWNERS)
def role(request: StaffRequest, pk: int) -> HttpResponse:
    """Give a member another role."""
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            member_services.change_role(
                _user(pk), form.chosen(), now=timezone.now(), by=request.user
            )
        except member_services.LastOwnerError:
            messages.error(request, _("Somebody has to own the site: make another owner first."))
        else:
            messages.success(request, _("The role holds from now on."))
    return redirect("members:member", pk)


@require_POST
@members_only(OWNERS)
def link(request: StaffRequest, pk: int) -> HttpResponse:
    """Show a link with which a member sets their password, this once."""
    user = _user(pk)
    return _member_page(request, user, _link(request, user))


@require_POST
@members_only(OWNERS)
def reset(request: StaffRequest, pk: int) -> HttpResponse:
    """Forget a member's second factor."""
    member_services.reset_second_factor(_user(pk), now=timezone.now(), by=request.user)
    messages.success(request, _("The second factor is reset; they are signed out everywhere."))
    return redirect("members:member", pk)


@require_POST
@members_only(OWNERS)
def remove(request: StaffRequest, pk: int) -> HttpResponse:
    """Take somebody out of the team."""
    user = _user(pk)
    try:
        member_services.remove_member(user, now=timezone.now(), by=request.user)
    except member_services.LastOwnerError:
        messages.error(request, _("Somebody has to own the site: make another owner first."))
        return redirect("members:member", pk)
    messages.success(request, _("%(name)s is removed.") % {"name": user.get_username()})
    return redirect("members:all")


def _user(pk: int) -> User:
    return get_object_or_404(team(), pk=pk)


def _since(user: User) -> dt.datetime:
    return user.date_joined if user.is_superuser else user.member.since


def _link(request: StaffRequest, user: User) -> str:
    path = member_services.make_password_link(user, now=timezone.now(), by=request.user)
    return request.build_absolute_uri(path)


def _member_page(request: StaffRequest, user: User, link: str = "") -> HttpResponse:
    parts = {
        "member": user,
        "role": role_of(user),
        "since": _since(user),
        "roles": Role.choices,
        "link": link,
    }
    return render(request, "console/members/member.html", parts)


class RoleForm(forms.Form):
    """A role."""

    role = forms.ChoiceField(choices=Role.choices, label=gettext_lazy("Role"))

    def chosen(self) -> Role:
        """Return the role of a valid form."""
        return Role(self.cleaned_data["role"])


class MemberForm(RoleForm):
    """Somebody who is to be in the team."""

    username = forms.CharField(max_length=100, label=gettext_lazy("Username"))
    email = forms.EmailField(required=False, label=gettext_lazy("E-mail address"))
