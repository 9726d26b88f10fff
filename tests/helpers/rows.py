"""Rows of every table: the plain builder of each, and one text wherever a text may stand."""

from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.db.models import QuerySet

from annotation.models import Study
from ranking.fits import services
from tests.helpers import (
    factories,
    factories_of_calls,
    factories_of_people,
    factories_of_site,
    factories_written_once,
)
from tests.helpers.datasets import make_reviewable
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_judgment,
    make_lease,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import (
    make_judge_run,
    make_labelled_by_two,
    make_scan,
    make_themed_by_two,
)
from tests.helpers.factories_of_people import make_report
from tests.helpers.factories_of_site import make_batch, make_external
from tests.helpers.factories_written_once import make_log_entry, make_member, make_release
from tests.helpers.judged import make_judged_study
from tests.helpers.released import make_reviewed_study

MODULES = (
    factories,
    factories_of_site,
    factories_of_people,
    factories_of_calls,
    factories_written_once,
)
BUILDERS: dict[str, Callable[..., Any]] = {
    "Member": lambda: factories_written_once.make_member().member
}
"""The first builder of each table is the plain one; others make special rows."""
for module in MODULES:
    for name, function in vars(module).items():
        if name.startswith("make_"):
            BUILDERS.setdefault(function.__annotations__["return"].__name__, function)


APPS = ("access", "annotation", "completions", "ranking")
KEPT = (
    *("key", "hash", "version", "code", "seed", "prefix", "stamp", "state", "kind", "rule"),
    *("scopes", "url"),
)
"""Ends of names of fields that the site itself writes, or takes in no other form."""
SHORT = 100
"""Characters of what stands in JSON, where rules of study files hold the length."""


def make_everything() -> Study:
    """Return a judged and fitted study, with rows around it, and one at least in every table."""
    study, _careless = make_reviewed_study()
    make_judged_study(study=study, with_llm=True)
    comparison = make_comparison(study=study)
    make_report(lease=make_lease(comparison=comparison))
    make_external(batch=make_batch(study=study), comparison=comparison)
    make_scan(judgment=make_judgment(comparison=comparison))
    make_judge_run(study=study)
    make_reviewable(dataset=study.dataset)
    make_writing_lease(writer=make_writer(dataset=study.dataset))
    make_release(study=study)
    make_member("second")
    make_labelled_by_two()
    make_themed_by_two()
    make_log_entry(subject=f"study {study.slug}")
    services.refit_study(study=study, clock=lambda: NOW + 3 * HOUR)
    for model in our_models():
        if not model._default_manager.exists():
            BUILDERS[model.__name__]()
    return study


def our_models() -> Iterator[type[models.Model]]:
    """Yield the models of the site's own apps."""
    for label in APPS:
        yield from apps.get_app_config(label).get_models()


def spoil(text: str) -> set[str]:
    """Write the text over every other in the database; return the names of the fields."""
    return {
        f"{model.__name__}.{field.name}"
        for model in our_models()
        for field in model._meta.concrete_fields
        if _written(model, field, text)
    }


def _written(model: type[models.Model], field: Any, text: str) -> bool:
    rows: QuerySet[Any] = QuerySet(model)
    try:
        with transaction.atomic():
            if isinstance(field, models.JSONField):
                return sum(_in_json(rows, row, field.name, text) for row in rows.all()) > 0
            if not _is_free(field) or not rows.exists():
                return False
            wanted = rows.all() if field.null else rows.exclude(**{field.name: ""})
            return bool(wanted.update(**{field.name: text[: field.max_length]}))
    except IntegrityError:  # a rule of the table holds what may stand there
        return False


def _is_free(field: Any) -> bool:
    is_text = isinstance(field, models.CharField | models.TextField)
    is_key = isinstance(field, models.SlugField) or field.unique or field.primary_key
    return is_text and not is_key and not field.choices and not field.name.endswith(KEPT)


def _in_json(rows: QuerySet[Any], row: models.Model, name: str, text: str) -> bool:
    found = getattr(row, name)
    changed = _replaced(found, text)
    return changed != found and bool(rows.filter(pk=row.pk).update(**{name: changed}))


def _replaced(found: Any, text: str) -> Any:
    """Return JSON with the text for every string that is prose: of more than one word."""
    if isinstance(found, dict):
        return {name: _replaced(value, text) for name, value in found.items()}
    if isinstance(found, list):
        return [_replaced(value, text) for value in found]
    return text[:SHORT] if isinstance(found, str) and " " in found else found


def pages_of_readers(study: Study) -> Iterator[str]:
    """Yield addresses that are open to everybody and show what others wrote."""
    results = f"/results/{study.slug}/"
    yield from ("/", f"/s/{study.slug}/", f"/s/{study.slug}/help/", results)
    yield from (f"{results}{name}" for name in ("fits/", "history/", "verdicts/"))
    yield from (f"{results}{name}" for name in ("history.csv", "verdicts.csv"))
