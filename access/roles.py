"""Who may do what: the roles of members, and the pages that ask for one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRefresh

from access.choices import Role, is_at_least
from access.models import Member

SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def role_of(user: User | AnonymousUser) -> Role | None:
    """Return what a user may do; a superuser owns the site, and others need to be a member."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.OWNER
    try:
        return Role(user.member.role)
    except Member.DoesNotExist:
        return None


def users() -> QuerySet[User]:
    """Return all users, with what a page asks about whoever is signed in."""
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=SECOND_FACTORS)
    return User.objects.select_related("member").annotate(has_second_factor=Exists(factors))


def user_named(username: str) -> User | None:
    """Return the user of that name, however its letters are written."""
    return User.objects.filter(username__iexact=username).first()


def team() -> QuerySet[User]:
    """Return everybody with a role, by name."""
    has_role = Q(is_superuser=True) | Q(member__isnull=False)
    return users().filter(has_role, is_active=True).order_by("username", "pk")


def with_roles(rows: Iterable[User]) -> Iterator[tuple[User, Role]]:
    """Yield members of ``team()`` with what each may do."""
    for user in rows:
        if (role := role_of(user)) is not None:
            yield user, role


def owners() -> QuerySet[User]:
    """Return who owns the site."""
    return team().filter(Q(is_superuser=True) | Q(member__role=Role.OWNER))


def member_with_address(email: str) -> User | None:
    """Return the member of an e-mail address; nobody if it is not one member's alone.

    Databases take some letters for others (a dotless i for an i), and providers do not.
    """
    alike = team().filter(email__iexact=email)
    found = [user for user in alike if user.email.lower() == email.lower()]
    return found[0] if email and len(found) == 1 else None


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Say whether a user has to set up a second factor before anything else."""
    if settings.HEART_SECOND_FACTOR != "required" or not user.is_authenticated:
        return False
    known: bool | None = getattr(user, "has_second_factor", None)
    if known is None:
        known = Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists()
    return not known


def _next_page(request: HttpRequest) -> str:
    """Return where to go on after signing in; whoever pressed a button goes back to its page.

    The address of the act itself answers no browser that asks for it.
    """
    if request.method in SAFE:
        return request.get_full_path()
    messages.error(request, _("You were signed out, so nothing was done. Sign in, and try again."))
    page = urlsplit(request.headers.get("Referer", ""))
    return page._replace(scheme="", netloc="").geturl() or resolve_url(settings.LOGIN_REDIRECT_URL)


P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)
SAFE = ("GET", "HEAD", "OPTIONS")


class StaffRequest(HttpRequest):
    """A request of a signed-in member of the team."""

    user: User


@dataclass(frozen=True)
class Needs:
    """The least roles that may look at a page and that may act on it."""

    reads: Role = Role.ANALYST
    acts: Role = Role.MANAGER

    def of(self, method: str) -> Role:
        """Return the least role for a request of that method."""
        return self.reads if method in SAFE else self.acts


OWNERS = Needs(reads=Role.OWNER, acts=Role.OWNER)
"""Of pages on people's data, members, keys and backups."""


class Guarded(Protocol):
    """A view that says whom it answers."""

    needs: Needs


def may(request: HttpRequest, least: Role) -> bool:
    """Say whether whoever asks is a member with at least that role, and signed in well enough."""
    return _has_role(request, least) and not lacks_second_factor(request.user)


def _has_role(request: HttpRequest, least: Role) -> bool:
    role = role_of(request.user)
    return role is not None and is_at_least(role, least)


def members_only(
    needs: Needs = Needs(), *, is_part: bool = False
) -> Callable[
    [Callable[Concatenate[StaffRequest, P], R]],
    Callable[Concatenate[HttpRequest, P], R | HttpResponseBase],
]:
    """Lead strangers to the sign-in page, and refuse members whose role is not enough.

    Where a second factor is required, members without one are led to the page that adds it.

    A part of a page (``is_part``) has the page around it load anew instead, to do the same.
    No answer is kept in a cache.

    Raises
    ------
    PermissionDenied
        When the page is asked for, if the role is not enough.
    """

    def decorate(
        view: Callable[Concatenate[StaffRequest, P], R],
    ) -> Callable[Concatenate[HttpRequest, P], R | HttpResponseBase]:
        @wraps(view)
        def wrapper(
            request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> R | HttpResponseBase:
            least = needs.of(request.method or "")
            if is_part and not may(request, least):
                return HttpResponseClientRefresh()
            if not request.user.is_authenticated:
                return redirect_to_login(_next_page(request))
            if not _has_role(request, least):
                raise PermissionDenied
            if lacks_second_factor(request.user):
                return redirect("mfa_activate_totp")
            return view(cast("StaffRequest", request), *args, **kwargs)

        cast("Guarded", wrapper).needs = needs
        return never_cache(wrapper)

    return decorate
