"""Who belongs to the team that runs the site."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.choices import Role


class Member(models.Model):
    """A user's role; a user without one, unless a superuser, has no business in the console."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.PROTECT, related_name="member")
    role = models.CharField(max_length=7, choices=Role)
    since = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"
