"""What there is to export of a study, with counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from annotation.models import ExternalJudgment, Judgment, Study
from ranking.exports.data_dictionary import TABLES, Table
from ranking.exports.rows.asked import Form
from ranking.exports.rows.facts import is_simulated
from ranking.exports.rows.texts import has_texts

COUNTED: Mapping[str, Callable[[Study], int]] = {
    "judgments": lambda study: Judgment.objects.filter(comparison__study=study).count(),
    "comparisons": lambda study: study.comparisons.count(),
    "contexts": lambda study: study.comparisons.values("context").distinct().count(),
    "raters": lambda study: study.raters.count(),
    "external": lambda study: ExternalJudgment.objects.filter(batch__study=study).count(),
}
"""How rows are counted; completions and preference pairs are by reading them alone."""


@dataclass(frozen=True)
class Offer:
    """One export: how many rows it has, as far as that is known beforehand, and its forms."""

    table: Table
    n_rows: int | None
    forms: tuple[Form, ...]


@dataclass(frozen=True)
class Offered:
    """All exports of a study; ``has_texts`` says if the licence lets texts be passed on."""

    offers: tuple[Offer, ...]
    has_texts: bool
    licence: str
    is_simulated: bool


def n_rows(study: Study, name: str) -> int | None:
    """Return how many rows an export has, if that is known without reading them."""
    count = COUNTED.get(name)
    return None if count is None else count(study)


def offered(study: Study, *, n_judgments: int | None = None) -> Offered:
    """Return what there is to export; a handful of queries that count.

    Who has counted the judgments before gives ``n_judgments``.
    """
    return Offered(
        offers=tuple(_offer(study, table, n_judgments) for table in TABLES),
        has_texts=has_texts(study),
        licence=study.dataset.licence,
        is_simulated=is_simulated(study),
    )


def _offer(study: Study, table: Table, n_judgments: int | None) -> Offer:
    forms = (Form.JSONL,) if table.is_nested else tuple(Form)
    is_known = table.name == "judgments" and n_judgments is not None
    return Offer(table, n_judgments if is_known else n_rows(study, table.name), forms)
