"""Systems as the console lists them: where they are from, and what a call to them needs."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from completions.choices import SystemKind
from completions.models import System
from completions.runs.services import budgeting
from completions.systems import catalogue, queries, tables
from completions.systems.queries import Choose, SystemRow, by_slug
from completions.systems.tables import ListedModel

ModelRow = ListedModel[SystemRow]
SYSTEMS = tables.listing(
    gettext_lazy("System"), counted=("n_completions", gettext_lazy("Completions"))
)
COLUMNS = (*tables.COLUMNS, "completions", "brought_in")


def model_rows(environment: Mapping[str, str], choose: Choose = by_slug) -> list[ModelRow]:
    """Return the language models that ``choose`` takes; ``environment`` says which keys are set."""
    listed = {entry.slug for entry in catalogue.load_catalogues(catalogue.shipped()).system}
    models = System.objects.filter(kind=SystemKind.MODEL).in_bulk(field_name="slug")
    return [
        ListedModel(row, row.slug in listed, budgeting.price_of(models[row.slug]))
        for row in queries.system_rows(environment, choose)
        if row.slug in models
    ]
