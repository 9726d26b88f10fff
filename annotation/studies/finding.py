"""The study of an address."""

from django.http import Http404

from annotation.models import Study
from annotation.studies import selectors


def study_or_404(slug: str) -> Study:
    """Return the study of the address.

    Raises
    ------
    Http404
        If there is no such study.
    """
    study = selectors.study_by_slug(slug)
    if study is None:
        raise Http404
    return study
