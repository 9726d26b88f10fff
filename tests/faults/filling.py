"""Fill an empty database with the studies of the drills: python -m tests.faults.filling SLUG ..."""

import os
import sys

import django
from django.core.management import call_command

N_PAIRS = 240
PER_PAIR = 6  # as many as there are raters: a drill must not run out of pairs


def main(slugs: list[str]) -> None:
    """Make the tables, and for each drill an open study on the same pairs of messages."""
    call_command("migrate", verbosity=0)
    from annotation.models import Comparison  # noqa: PLC0415 (models need the settings)
    from tests.helpers.factories import (  # noqa: PLC0415
        make_completion,
        make_context,
        make_dataset,
        make_dialogue,
        make_study,
        make_system,
    )

    dataset, systems = make_dataset(), [make_system() for _ in range(2)]
    contexts = [make_context(dialogue=make_dialogue(dataset=dataset)) for _ in range(N_PAIRS)]
    pairs = [[make_completion(context=one, system=by) for by in systems] for one in contexts]
    for slug in slugs:
        study = make_study(
            slug=slug, dataset=dataset, session_length=1000, judgments_per_pair=PER_PAIR
        )
        Comparison.objects.bulk_create(
            Comparison(
                study=study,
                context=first.context,
                first=first,
                second=second,
                key=f"pair-{place}",
                position=place,
                slots_left=PER_PAIR,
            )
            for place, (first, second) in enumerate(pairs)
        )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
    django.setup()
    main(sys.argv[1:])
