"""Django's admin, for owners: tables to look at when a page of the console does not say enough."""

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from access.choices import Role
from access.roles import lacks_second_factor, may, role_of


class OwnersSite(AdminSite):
    """The stock admin, for owners."""

    def has_permission(self, request: HttpRequest) -> bool:
        """Let owners in, whatever Django's own permissions say."""
        return may(request, Role.OWNER)

    def login(self, request: HttpRequest, _extra: dict[str, object] | None = None) -> HttpResponse:
        """Lead to the site's own sign-in, which asks for the second factor, too."""
        target = request.GET.get("next") or reverse("admin:index")
        if not request.user.is_authenticated:
            return redirect_to_login(target)
        if role_of(request.user) is Role.OWNER and lacks_second_factor(request.user):
            return redirect("mfa_activate_totp")
        if not self.has_permission(request):
            raise PermissionDenied
        return redirect("admin:index")

    def password_change(  # type: ignore[override] # (a redirection is an answer, too)
        self, _request: HttpRequest, _extra: dict[str, object] | None = None
    ) -> HttpResponse:
        """Lead to the site's own page, which writes down that a password is another."""
        return redirect("account_change_password")


def leave_out_accounts(site: AdminSite) -> None:
    """Take the tables of accounts out: they hold keys, and acts on them belong in the log.

    Django's own let a superuser make another, past the team's pages and past the log.
    """
    for label in ("auth", "account", "mfa", "usersessions", "socialaccount"):
        for model in apps.get_app_config(label).get_models():
            if site.is_registered(model):
                site.unregister(model)
