"""Studies as commands name them."""

import argparse

from annotation.models import Study
from annotation.studies import queries as study_queries
from completions.management.acting import RefusedError


def add_study(parser: argparse.ArgumentParser) -> None:
    """Let an action be about one study."""
    parser.add_argument("--study", required=True, help="Name of the study in addresses.")


def study_named(slug: str) -> Study:
    """Return the study of that slug, or raise RefusedError."""
    study = study_queries.study_by_slug(slug)
    if study is None:
        msg = f'there is no study "{slug}"'
        raise RefusedError(msg)
    return study
