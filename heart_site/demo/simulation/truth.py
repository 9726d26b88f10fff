"""What is planted: how good each text is, known to the simulation and to nobody it simulates for.

A simulated rater sees texts and nothing else, as a person does; which system wrote a text is
looked up here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from heart_site.demo.simulation.people import generator

FARTHEST = 1.5  # from the mean to the best system, in natural-log units
TEXT_SPREAD = 0.3  # how far a text strays from its system's strength
HIGH, LOW = 2.5, -2.5  # the two texts of a quality check


class UnknownTextError(LookupError):
    """A page showed a text that the simulation does not know of."""


@dataclass(frozen=True)
class Truth:
    """How good each text is, in natural-log units, by its words."""

    by_text: Mapping[str, float]

    def of(self, text: str) -> float:
        """Return how good a text is.

        Raises
        ------
        UnknownTextError
            If it is none of the study's.
        """
        try:
            return self.by_text[words_of(text)]
        except KeyError as error:
            msg = f"no completion of the study reads {text[:60]!r}"
            raise UnknownTextError(msg) from error


def words_of(text: str) -> str:
    """Return the text with single spaces, as a page may wrap it otherwise."""
    return " ".join(text.split())


def plant_strengths(systems: Iterable[str], *, seed: int) -> dict[str, float]:
    """Return a strength for each system: evenly spaced around 0, in an order drawn by the seed."""
    names = sorted(systems)
    spaced = np.linspace(FARTHEST, -FARTHEST, len(names)) if len(names) > 1 else np.zeros(1)
    order = generator("strengths", seed).permutation(len(names))
    return {name: float(spaced[place]) for name, place in zip(names, order, strict=True)}


def plant_texts(
    written: Iterable[tuple[str, str]],
    strengths: Mapping[str, float],
    *,
    known: Mapping[str, float],
    seed: int,
    lift: Callable[[str, str], float] = lambda _text, _system: 0.0,
) -> Truth:
    """Return how good each text is.

    Parameters
    ----------
    written : iterable of (text, system)
        Every completion of the study. Systems that wrote the same words share their mean.
    strengths : mapping
        Strength of each system, see :func:`plant_strengths`.
    known : mapping
        Texts of quality checks with their own strength, which wins over a system's.
    seed : int
        Fixes how far each text strays from its system.
    lift : callable
        By how much a text of a system is better than its other texts, by what stands in it.
    """
    authors: dict[str, list[float]] = {}
    for text, system in written:
        merit = strengths[system] + lift(text, system)
        authors.setdefault(words_of(text), []).append(merit)
    by_text = {text: float(np.mean(means)) + _stray(text, seed) for text, means in authors.items()}
    return Truth(by_text | {words_of(text): strength for text, strength in known.items()})


def _stray(text: str, seed: int) -> float:
    return float(generator("text", seed, text).normal(0.0, TEXT_SPREAD))
