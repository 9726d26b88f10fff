"""Set how the pool of a dataset works; ``use_vetting`` switches the trial on and off."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from completions.models import Dataset
from completions.services.log import record


@transaction.atomic
def configure_pool(
    *,
    dataset: Dataset,
    most_adversarial: int,
    offers_own_systems: bool,
    now: dt.datetime,
    by: User | None = None,
) -> Dataset:
    """Make the settings hold for what is handed out and asked from now on.

    Whoever agreed to be rated alone stays so. Asking for what holds already changes nothing.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    before = _settings(dataset)
    dataset.most_adversarial = most_adversarial
    dataset.offers_own_systems = offers_own_systems
    after = _settings(dataset)
    if after == before:
        return dataset
    dataset.save(update_fields=[*after])
    subject = f"dataset {dataset.slug}"
    record(action="pool.configured", subject=subject, now=now, by=by, before=before, after=after)
    return dataset


def _settings(dataset: Dataset) -> dict[str, int | bool]:
    return {
        "most_adversarial": dataset.most_adversarial,
        "offers_own_systems": dataset.offers_own_systems,
    }
