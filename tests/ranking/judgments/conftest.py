"""A pair to be judged, whose parts have known names."""

import pytest

from annotation.models import Comparison
from completions.choices import Stratum
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_study,
    make_system,
)


@pytest.fixture
def comparison(db) -> Comparison:
    """Return a pair on a hostile context; the system shown first is the second by name."""
    context = make_context(dialogue=make_dialogue(), stratum=Stratum.ADVERSARIAL)
    first, second = (
        make_completion(context=context, system=make_system(slug=slug))
        for slug in ("zeta", "alpha")
    )
    study = make_study(dataset=context.dataset)
    return make_comparison(study=study, first=first, second=second)
