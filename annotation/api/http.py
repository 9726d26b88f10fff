"""What views of the API on one study are made of."""

from typing import Any

from rest_framework.exceptions import NotFound

from annotation.models import Study
from annotation.studies import selectors


def study_of(kwargs: dict[str, Any]) -> Study:
    """Return the study that an address names.

    Raises
    ------
    NotFound
        If there is none.
    """
    found = selectors.study_by_slug(kwargs["study"])
    if found is None:
        msg = f"there is no study {kwargs['study']}"
        raise NotFound(msg)
    return found
