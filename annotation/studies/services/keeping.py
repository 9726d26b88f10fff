"""Keep figures that pages show and do not have the time to work out."""

import datetime as dt
from typing import Any

from django.utils.module_loading import import_string

from annotation.models import Study
from annotation.studies import stored_figures


def keep_figures(*, kind: str, study_id: int, now: dt.datetime) -> bool:
    """Work out one kind of figures of the study of that key; say whether it was done here."""
    found: stored_figures.FiguresKind[Any] = import_string(stored_figures.FIGURES[kind])
    return stored_figures.keep(found, Study.objects.get(pk=study_id), now=now)
