"""Enumerated values of access."""

from collections.abc import Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member of the team may do, the least first."""

    ANALYST = "ANALYST", _("Analyst: reads everything, changes nothing")
    MANAGER = "MANAGER", _("Manager: runs studies")
    OWNER = "OWNER", _("Owner: also people's data, members and keys")

    @property
    def short_label(self) -> str:
        """Its label without what it may do."""
        return self.label.partition(":")[0]


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


class Scope(models.TextChoices):
    """One thing that a token may do; one that is not named it may not."""

    READ_STUDIES = "read:studies", _("Read studies, systems, ratings, fits and analyses")
    READ_TEXTS = "read:texts", _("Read contexts and completions, with who wrote them")
    READ_JUDGMENTS = "read:judgments", _("Read comparisons and judgments, raters by pseudonym")
    READ_RELEASES = "read:releases", _("Read and download releases")
    WRITE_COMPLETIONS = "write:completions", _("Bring in completions")
    WRITE_JUDGMENTS = "write:judgments", _("Bring in judgments made elsewhere")


WRITING = frozenset({Scope.WRITE_COMPLETIONS, Scope.WRITE_JUDGMENTS})


def least_role(scope: Scope) -> Role:
    """Return the role that an owner needs for a token of theirs to use a scope."""
    return Role.MANAGER if scope in WRITING else Role.ANALYST


def joined(scopes: Iterable[Scope]) -> str:
    """Return scopes as they are stored: each once, in the order of their list, spaces between."""
    chosen = set(scopes)
    return " ".join(scope for scope in Scope if scope in chosen)


def stored_form() -> str:
    """Return the regular expression of what may be stored."""
    one = "|".join(Scope.values)
    return f"^({one})( ({one}))*$"
