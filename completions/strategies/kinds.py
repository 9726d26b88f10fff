"""What people check of a model's labels: strategies of texts, and whatever apps above add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, Q

from completions.contexts.screening.highlights import MarkedDialogue, mark_dialogue
from completions.dialogues.normaliser import plain
from completions.models import HumanLabelling, SpotCheck, SpotCheckItem, StrategyLabel
from completions.strategies.codebook import load_codebook


@dataclass(frozen=True)
class CheckKind:
    """A kind of samples; a sample, its items and what people find in them are rows of its own.

    Attributes
    ----------
    samples, items : models
        Made from LabelSample and SampledItem.
    labellings : model made from PeoplesLabels
        What people find.
    subject : str
        Of an item, the field that is labelled.
    related : tuple of str
        What to read with an item.
    is_there : Q
        Of items: the text is not deleted.
    meanings : callable
        The labels of a codebook, by its reference: each with key, name, shows, leaves_out.
    labels : model
        What models find; rows have a call, and the call an assistant and the subject.
    text : callable
        What is labelled of an item, as people read it.
    dialogue : callable
        What came before, if people read that too.
    asked_by : callable
        Of labels: the model was asked for them by this codebook.
    """

    samples: Any
    items: Any
    labellings: Any
    subject: str
    related: tuple[str, ...]
    is_there: Q
    meanings: Callable[[str], Sequence[Any]]
    labels: Any
    text: Callable[[Any], str]
    dialogue: Callable[[Any], MarkedDialogue | None] = field(default=lambda _item: None)
    asked_by: Callable[[str], Q] = field(default=lambda _codebook: Q())

    def keys(self, codebook: str) -> tuple[str, ...]:
        """Return the keys of a codebook, in order."""
        return tuple(one.key for one in self.meanings(codebook))


def _dialogue(item: Any) -> MarkedDialogue:  # noqa: ANN401 (an item of its kind)
    context = item.completion.context
    return mark_dialogue(context.turns, (), (), is_simulated=context.is_simulated)


STRATEGIES = CheckKind(
    samples=SpotCheck,
    items=SpotCheckItem,
    labellings=HumanLabelling,
    subject="completion",
    related=("completion__context",),
    is_there=Q(completion__erased_at=None),
    meanings=lambda codebook: load_codebook(codebook).strategies,
    labels=StrategyLabel,
    text=lambda item: plain(item.completion.text),
    dialogue=_dialogue,
)
KINDS: dict[type[Model], CheckKind] = {SpotCheck: STRATEGIES}
"""By the model of samples."""


def kind_of(check: Any) -> CheckKind:  # noqa: ANN401 (a sample of any kind)
    """Return of which kind a sample is."""
    return KINDS[type(check)]
