"""What is known of the comparisons that were put to judges: names, and what is simulated."""

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from annotation.models import JudgeCall, Study

_COLUMNS = (
    "pk",
    "key",
    "context__key",
    "context__stratum",
    "first__system__slug",
    "first__system__name",
    "second__system__slug",
    "second__system__name",
    "context__is_simulated",
    "first__system__is_simulated",
    "second__system__is_simulated",
)


class Fact(NamedTuple):
    """A comparison by its names."""

    pk: int
    key: str
    context: str
    stratum: str
    first_system: str
    first_name: str
    second_system: str
    second_name: str
    is_simulated_context: bool
    is_simulated_first: bool
    is_simulated_second: bool

    @property
    def is_simulated(self) -> bool:
        """Whether the seeker, or a system that is compared, is simulated."""
        return self.is_simulated_context or self.is_simulated_first or self.is_simulated_second


def facts_of(study: Study, *, only: Collection[int] | None = None) -> dict[int, Fact]:
    """Return the comparisons of the study that were put to judges, in one query."""
    asked = JudgeCall.objects.filter(comparison=OuterRef("pk"))
    meant = study.comparisons.filter(Exists(asked)).order_by("pk")
    rows = (meant if only is None else meant.filter(pk__in=only)).values_list(*_COLUMNS)
    return {fact.pk: fact for fact in map(Fact._make, rows)}
