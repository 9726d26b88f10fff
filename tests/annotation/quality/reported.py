"""Pairs of one dialogue that raters report."""

from annotation.models import Comparison
from tests.helpers.factories import make_comparison, make_completion, make_context, make_dialogue


def make_pairs(study, n_pairs: int = 3, **fields) -> list[Comparison]:
    """Make comparisons of one context, and return them in the study's order."""
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    return [
        make_comparison(
            study=study,
            first=make_completion(context=context),
            second=make_completion(context=context),
            position=place,
            **fields,
        )
        for place in range(n_pairs)
    ]
