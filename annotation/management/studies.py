"""Studies as commands name them."""

from annotation.models import Study
from annotation.studies import selectors


class StudyError(ValueError):
    """A study that does not exist, or whose protocol can still change."""


def study_named(slug: str) -> Study:
    """Return the study of that name, or raise StudyError."""
    study = selectors.study_by_slug(slug)
    if study is None:
        msg = f'study "{slug}": there is none of that name'
        raise StudyError(msg)
    return study
