"""``judges check``: ask judges one cheap question before a run."""

import argparse

from annotation.judges.queries import judges_named
from annotation.models import Judge
from completions.management import trying
from completions.management.actions import Action
from completions.management.progress import Progress


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Ask for a greeting in JSON, as judges are asked."""
    slugs = options.slugs or list(Judge.objects.values_list("slug", flat=True))
    return trying.check(judges_named(slugs), in_json=True, as_json=options.json)


ACTION = Action("check", "Ask judges one cheap question.", trying.add_arguments, run)
