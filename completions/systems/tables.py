"""Registered language models as tables list them, whether they write or judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Q
from django.utils.translation import gettext_lazy

from access.console.csv_cells import Cell
from access.console.tables import Table
from completions.choices import SystemKind
from completions.models import System
from completions.runs.services import budgeting
from completions.systems import catalogue
from completions.systems.queries import Choose, EndpointRow, SystemRow, by_slug, system_rows

COLUMNS = (
    *("slug", "name", "maker", "model", "address", "is_simulated", "is_listed", "variables"),
    *("usd_a_million_asked", "usd_a_million_answered"),
)
Row = TypeVar("Row", bound=EndpointRow)


@dataclass(frozen=True)
class ListedModel(Generic[Row]):
    """A registered model: its row, whether a catalogue lists it, and what it costs."""

    row: Row
    is_listed: bool
    price: Mapping[str, float] | None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of ``COLUMNS``; of a key, the name of its variable alone."""
        row, price = self.row, self.price or {}
        told = (row.slug, row.name, row.family, row.model_id, row.api_base, row.is_simulated)
        needs = " ".join(row.variables)
        return (*told, self.is_listed, needs, price.get("input"), price.get("output"))


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


ModelRow = ListedModel[SystemRow]
SYSTEMS = listing(gettext_lazy("System"), counted=("n_completions", gettext_lazy("Completions")))
SYSTEM_COLUMNS = (*COLUMNS, "completions", "brought_in")


def model_rows(environment: Mapping[str, str], choose: Choose = by_slug) -> list[ModelRow]:
    """Return the language models that ``choose`` takes; ``environment`` says which keys are set."""
    listed = {entry.slug for entry in catalogue.load_catalogues(catalogue.shipped()).system}
    models = System.objects.filter(kind=SystemKind.MODEL).in_bulk(field_name="slug")
    return [
        ListedModel(row, row.slug in listed, budgeting.price_of(models[row.slug]))
        for row in system_rows(environment, choose)
        if row.slug in models
    ]
