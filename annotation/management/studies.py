"""Studies as commands name them."""

from annotation.models import Study
from annotation.studies import selectors
from completions.management.acting import RefusedError


def study_named(slug: str) -> Study:
    """Return the study of that slug, or raise RefusedError."""
    study = selectors.study_by_slug(slug)
    if study is None:
        msg = f'there is no study "{slug}"'
        raise RefusedError(msg)
    return study
