"""Registered language models as tables list them, whether they write or judge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy

from access.console.csv_cells import Cell
from access.console.tables import Table
from completions.runs.services import budgeting
from completions.systems.catalogue import CatalogueEntry
from completions.systems.queries import variables_of

COLUMNS = (
    *("slug", "name", "maker", "model", "address", "is_simulated", "is_listed", "variables"),
    *("usd_a_million_asked", "usd_a_million_answered"),
)


@dataclass(frozen=True)
class ListedModel:
    """A registered model: its row, whether a catalogue lists it, what it needs and costs."""

    row: Any
    is_listed: bool
    variables: Mapping[str, bool]
    """The names of the variables that its calls read, and whether they are set."""
    price: Mapping[str, float] | None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of ``COLUMNS``; of a key, the name of its variable alone."""
        row, price = self.row, self.price or {}
        told = (row.slug, row.name, row.family, row.model_id, row.api_base, row.is_simulated)
        needs = " ".join(self.variables)
        return (*told, self.is_listed, needs, price.get("input"), price.get("output"))


def listed_models(rows: Iterable[Any], catalogue: Iterable[CatalogueEntry]) -> list[ListedModel]:
    """Return these models, with what the catalogue and the environment have of each."""
    listed = {entry.slug for entry in catalogue}
    return [
        ListedModel(row, row.slug in listed, variables_of(row), budgeting.price_of(row))
        for row in rows
    ]


def listing(label: object, *, counted: tuple[str, object]) -> Table:
    """Return how a table may be asked for whose first column has that label.

    ``counted`` is the column of how much there is of each: its field, and its label.
    """
    field, counts = counted
    return Table(
        orders={
            "name": (label, ("name",)),
            "n": (counts, (field,)),
            "maker": (gettext_lazy("Maker"), ("family",)),
            "model": (gettext_lazy("Asked as"), ("model_id",)),
        },
        usual="name",
        shows={
            "real": (gettext_lazy("not simulated"), Q(is_simulated=False)),
            "simulated": (gettext_lazy("simulated"), Q(is_simulated=True)),
        },
        searched=("name", "slug", "family", "model_id"),
        numbers=("n",),
    )
