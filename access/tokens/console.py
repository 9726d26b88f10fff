"""The console's page on tokens of the API, with its form: owners make and revoke them."""

import datetime as dt
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import Scope
from access.console.tables import Table, csv_of
from access.models import LONGEST, ApiToken
from access.roles import OWNERS, StaffRequest, members_only
from access.tokens import queries as token_queries
from access.tokens import services as token_services
from access.tokens.services import NewToken

COLUMNS = (
    *("token", "name", "scopes", "owner"),
    *("made_at", "expires_at", "revoked_at", "last_used_at"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only(OWNERS)
def tokens(request: StaffRequest) -> HttpResponse:
    """Show every token, and make one; its secret is on the page that answers, and nowhere else."""
    form = TokenForm(request.POST or None)
    now, secret = timezone.now(), ""
    if form.is_bound and form.is_valid():
        try:
            _row, secret = token_services.make_token(
                form.new_token(), owner=request.user, now=now, by=request.user
            )
            form = TokenForm()
        except token_services.TokenRefusedError as error:
            form.add_error(None, str(error))
    query = _listing(now).asked(request)
    page = query.page(token_queries.all_tokens(), request.GET.get("page", ""))
    parts = {"form": form, "secret": secret, "page": page, "filters": query, "now": now}
    status = 422 if form.errors else 200
    return render(request, "console/tokens/tokens.html", parts, status=status)


@require_safe
@members_only(OWNERS)
def tokens_csv(request: StaffRequest) -> StreamingHttpResponse:
    """Download the same tokens, in the same order; a secret is stored nowhere."""
    rows = _listing(timezone.now()).asked(request).apply(token_queries.all_tokens())
    cells = (
        (
            *(one.prefix, one.name, one.scopes, one.owner.get_username()),
            *(one.created_at, one.expires_at, one.revoked_at, one.last_used_at),
        )
        for one in rows.iterator()
    )
    return csv_of(request, "tokens", COLUMNS, cells)


def _listing(now: dt.datetime) -> Table:
    is_over = Q(expires_at__lte=now)
    return Table(
        orders={
            "token": (_("Token"), ("prefix",)),
            "owner": (_("Owner"), ("owner__username",)),
            "until": (_("Valid until"), ("expires_at",)),
            "last": (_("Last used"), ("last_used_at",)),
        },
        usual="-until",
        shows={
            "valid": (_("Valid"), Q(revoked_at=None) & ~is_over),
            "revoked": (_("Revoked"), Q(revoked_at__isnull=False)),
            "expired": (_("Expired"), is_over),
        },
        searched=("prefix", "name", "owner__username"),
    )


@require_POST
@members_only(OWNERS)
def revoke(request: StaffRequest, pk: int) -> HttpResponse:
    """End a token for good."""
    token = get_object_or_404(ApiToken, pk=pk)
    token_services.revoke_token(token, now=timezone.now(), by=request.user)
    messages.success(request, _("%(token)s is revoked.") % {"token": token.prefix})
    return redirect("tokens:all")


class TokenForm(forms.Form):
    """A token that is to be made."""

    name = forms.CharField(max_length=80, label=gettext_lazy("What it is for"))
    scopes = forms.MultipleChoiceField(choices=Scope.choices, label=gettext_lazy("What it may do"))
    study = forms.SlugField(
        required=False, max_length=50, label=gettext_lazy("For one study alone")
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST.days,
        initial=90,
        label=gettext_lazy("Valid for so many days"),
    )

    def new_token(self) -> NewToken:
        """Return what a valid form asks for."""
        given: dict[str, Any] = self.cleaned_data
        return NewToken(
            given["name"],
            [Scope(one) for one in given["scopes"]],
            dt.timedelta(days=given["days"]),
            given["study"],
        )
