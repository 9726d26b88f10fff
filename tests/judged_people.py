"""Studies in which several people wrote for each context, and others judged their texts."""

from collections.abc import Callable, Sequence
from itertools import combinations

from annotation.models import Rater, Study
from completions.choices import SystemKind
from completions.models import Completion, System
from tests.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.factories_of_writing import human_system

Verdict = Callable[[int, int, int], int]
"""The answer of a rater on a text of a context, positive for the text, by their numbers."""


def better_first(rater: int, context: int, text: int) -> int:
    """Prefer the first text much to any system, and the others to it as often as not."""
    return 2 if text == 0 else (-1) ** (rater + context + text)


def make_study_of_people(
    verdict: Verdict = better_first,
    *,
    n_contexts: int = 4,
    n_texts: int = 2,
    n_raters: int = 4,
    of_people: Sequence[System] = (),
    models: Sequence[System] = (),
) -> Study:
    """Hold every text against two models, and these against each other, all judged by all.

    The texts of a context go to the systems ``of_people`` in turn, or all to the common one.
    """
    study = make_study()
    raters = [make_rater(study=study) for _ in range(n_raters)]
    of_people = of_people or [human_system()]
    models = models or [make_system(), make_system()]
    for number in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        texts = [
            make_completion(
                context=context,
                system=of_people[index % len(of_people)],
                writer=make_writer(dataset=study.dataset),
            )
            for index in range(n_texts)
        ]
        rivals = [make_completion(context=context, system=system) for system in models]
        for index, text in enumerate(texts):
            for rival in rivals:
                answers = [verdict(rater, number, index) for rater in range(n_raters)]
                _judge(study, text, rival, raters, answers)
        for first, second in combinations(rivals, 2):
            _judge(study, first, second, raters, [(-1) ** number] * n_raters)
    return study


def make_system_of_one(**fields: object) -> System:
    """A supporter's own system."""
    return make_system(kind=SystemKind.HUMAN, writer=make_writer(), **fields)


def _judge(
    study: Study,
    text: Completion,
    rival: Completion,
    raters: Sequence[Rater],
    answers: Sequence[int],
) -> None:
    first, second = sorted((text, rival), key=lambda one: one.pk)
    comparison = make_comparison(study=study, first=first, second=second)
    sign = 1 if first == text else -1
    for rater, answer in zip(raters, answers, strict=True):
        make_judgment(comparison=comparison, rater=rater, verdict=sign * answer)
