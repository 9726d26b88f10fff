"""Have made again what models could not complete: one cell of the coverage map, or many."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from completions.choices import CallState
from completions.models import Dataset, GenerationCall, GenerationRun
from completions.runs.services import running

FAILED = (CallState.FAILED, CallState.INVALID)


@transaction.atomic
def retry_completions(
    *,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
    context: str = "",
    system: str = "",
) -> int:
    """Ask again for completions that failed, and return how many calls that is.

    Those of one context and one system by their key and slug, or of all where these are empty.
    Their runs go on, each with its budget; what was answered is never asked again. Calls that
    belong to no run are left as they are.
    """
    only = Q(context__key=context) if context else Q()
    only &= Q(system__slug=system) if system else Q()
    failed = GenerationCall.objects.filter(only, context__dataset=dataset, state__in=FAILED)
    runs = GenerationRun.objects.filter(pk__in=failed.values("run")).order_by("pk")
    return sum(
        running.retry_failed(run, now=now, by=by, with_invalid=True, only=only) for run in runs
    )
