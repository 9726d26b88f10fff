"""Systems as the console lists them: where they are from, and what a call to them needs."""

from collections.abc import Mapping
from dataclasses import dataclass

from completions import catalogue, system_selectors
from completions.choices import SystemKind
from completions.models import System
from completions.services import budgeting
from completions.services.budgeting import Price
from completions.system_selectors import SystemRow


@dataclass(frozen=True)
class ModelRow:
    """A language model: its row, whether a catalogue lists it, and what it costs."""

    row: SystemRow
    is_listed: bool
    price: Price | None


def model_rows(environment: Mapping[str, str]) -> list[ModelRow]:
    """Return every language model by its slug; ``environment`` says which keys are set."""
    listed = {entry.slug for entry in catalogue.load_catalogues(catalogue.shipped()).system}
    models = System.objects.filter(kind=SystemKind.MODEL).in_bulk(field_name="slug")
    return [
        ModelRow(row, row.slug in listed, budgeting.price_of(models[row.slug]))
        for row in system_selectors.system_rows(environment)
        if row.slug in models
    ]
