"""Enumerated values of access."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member of the team may do, the least first."""

    ANALYST = "ANALYST", _("Analyst: reads everything, changes nothing")
    MANAGER = "MANAGER", _("Manager: runs studies")
    OWNER = "OWNER", _("Owner: also people's data, members and keys")


def is_at_least(role: Role, least: Role) -> bool:
    """Say whether a role includes what the other may do."""
    order = list(Role)
    return order.index(role) >= order.index(least)


class HookEvent(models.TextChoices):
    """What a webhook can be told of."""

    STUDY_FULL = "study.full", _("Every slot of a study is judged")
    RUN_FINISHED = "run.finished", _("A run of models, judges or labels is over")
    ALERT = "alert", _("Something needs a person: a report, a stopped run, a refused fit")
    TEST = "test", _("Somebody tries the webhook")


class DeliveryState(models.TextChoices):
    """Where a message to a webhook stands."""

    PENDING = "PENDING", _("Waiting to be sent")
    DELIVERED = "DELIVERED", _("Taken by the receiver")
    ABANDONED = "ABANDONED", _("Given up: can be sent again")


class PersonKind(models.TextChoices):
    """As what somebody takes part."""

    RATER = "RATER", _("Rater")
    WRITER = "WRITER", _("Writer")
