"""Read who may do what."""

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists, OuterRef, QuerySet

from access.choices import Role
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


def lacks_second_factor(user: User | AnonymousUser) -> bool:
    """Say whether a user has to set up a second factor before anything else."""
    if settings.HEART_SECOND_FACTOR != "required" or not user.is_authenticated:
        return False
    known: bool | None = getattr(user, "has_second_factor", None)
    if known is None:
        known = Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists()
    return not known
