"""What a token may be allowed to do, and which role of its owner that takes."""

from collections.abc import Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _

from access.choices import Role


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
