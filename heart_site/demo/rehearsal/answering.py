"""How good texts are, and what simulated raters answer, why and how fast; positive favours A.

How good a text is, is known to the simulation and to nobody it simulates for: a simulated rater
sees texts and nothing else, as a person does. A rater's taste for one of two texts is drawn once
per pair, so that the same pair shown again is judged much alike; a slip is drawn anew each time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from completions.offline import planted
from heart_site.demo.rehearsal.people import USUAL, Crowd, Kind, SimulatedRater, generator

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


STEPS = (0.4, 0.8, 1.3, 2.0)  # between the five strengths of a forced choice
DIMENSION_NOISE = 0.4
NO_MARK = 0.5
POINTS, MIDDLE = 5, 3  # of a scale for one text
POINTS_PER_UNIT = 0.8
PACE_NOISE = 0.25
WRITING_S = 6.0
HASTE_S = 1.2
TIRED_AFTER = 100  # pairs

RANDOM = frozenset({Kind.SPEEDER, Kind.CLICKER})


@dataclass(frozen=True)
class Mind:
    """A simulated rater in a study: the person, what is true, and the seed of their whims."""

    rater: SimulatedRater
    truth: Truth
    seed: int
    crowd: Crowd = USUAL

    def draws(self, *what: object) -> np.random.Generator:
        """Return the generator for something this rater decides."""
        return generator("mind", self.seed, self.rater.index, *what)


def perceive(mind: Mind, text_a: str, text_b: str, *, turn: int) -> float:
    """Return by how much an attentive reading favours A, in natural-log units.

    ``turn`` counts the rater's answers: the slip of another turn is another one.
    """
    crowd = mind.crowd
    low, high = sorted((words_of(text_a), words_of(text_b)))
    taste = float(mind.draws("taste", low, high).logistic(0.0, crowd.taste))
    sign = 1 if words_of(text_a) == low else -1
    difference = mind.rater.skill * (mind.truth.of(text_a) - mind.truth.of(text_b))
    slip = float(mind.draws("slip", turn).normal(0.0, crowd.slip * _tired(mind, turn)))
    pull = crowd.first + crowd.longer * planted.doublings(text_a, text_b)
    return difference + sign * taste + slip + pull


def five_points(mind: Mind, text_a: str, text_b: str, *, turn: int) -> int:
    """Return an answer of the preference protocol, from -2 (B much better) to 2."""
    kind = mind.rater.kind
    if kind in RANDOM:
        return int(mind.draws("click", turn).integers(-2, 3))
    if kind == Kind.ONE_SIDED:
        return int(mind.draws("click", turn).integers(1, 3))
    seen = _honestly(mind, perceive(mind, text_a, text_b, turn=turn))
    seen /= mind.rater.severity
    if abs(seen) < mind.crowd.same:
        return 0
    return int(np.sign(seen)) * (2 if abs(seen) > mind.crowd.much else 1)


def forced_choice(mind: Mind, text_a: str, text_b: str, *, turn: int) -> int:
    """Return an answer of the rubric protocol: the winner's sign times a strength of 1 to 5."""
    kind, click = mind.rater.kind, mind.draws("click", turn)
    strength = int(click.integers(1, POINTS + 1))
    if kind in RANDOM:
        return strength if click.random() < 0.5 else -strength  # noqa: PLR2004 (a fair coin)
    if kind == Kind.ONE_SIDED:
        return strength
    seen = _honestly(mind, perceive(mind, text_a, text_b, turn=turn))
    strength = 1 + int(np.searchsorted(STEPS, abs(seen)))
    return strength if seen >= 0 else -strength


def marks(mind: Mind, verdict: int, dimensions: Iterable[str], *, turn: int) -> dict[str, int]:
    """Return the side each dimension favours: 1 for A, -1 for B, 0 for neither.

    Dimensions follow the verdict closely, as they do among people.
    """
    draws = mind.draws("marks", turn)
    found = {key: verdict / 2 + draws.normal(0.0, DIMENSION_NOISE) for key in dimensions}
    return {key: int(np.sign(seen)) * (abs(seen) > NO_MARK) for key, seen in found.items()}


def points(mind: Mind, text: str, dimensions: Iterable[str], *, turn: int) -> dict[str, int]:
    """Return points of the likert protocol, 1 to 5, on each dimension of one text."""
    kind, keys = mind.rater.kind, list(dimensions)
    draws = mind.draws("points", turn)
    if kind in RANDOM:
        return {key: int(draws.integers(1, POINTS + 1)) for key in keys}
    if kind == Kind.ONE_SIDED:
        return dict.fromkeys(keys, POINTS - 1)
    taste = float(mind.draws("taste", words_of(text)).logistic(0.0, mind.crowd.taste))
    seen = _honestly(mind, mind.rater.skill * mind.truth.of(text) + taste)
    slip = mind.crowd.slip * _tired(mind, turn)
    exact = {key: MIDDLE + POINTS_PER_UNIT * seen + draws.normal(0.0, slip) for key in keys}
    return {key: int(np.clip(round(value), 1, POINTS)) for key, value in exact.items()}


def seconds(mind: Mind, *, n_words: int, turn: int) -> float:
    """Return how long the rater takes, from the pair on the screen to the answer sent."""
    noise = float(mind.draws("pace", turn).lognormal(0.0, PACE_NOISE))
    if mind.rater.kind == Kind.SPEEDER:
        return HASTE_S * noise
    return (WRITING_S + mind.rater.seconds_per_word * n_words) * noise / _tired(mind, turn)


def reason(verdict: int, texts: Sequence[str], *, turn: int) -> str:
    """Return why, in words that say that they are simulated.

    ``texts`` are A and B, or the one that was rated. Where the offline provider planted parts in
    them, the reason is about these.
    """
    if len(texts) > 1 and verdict:
        better, other = texts if verdict > 0 else reversed(texts)
        parts = planted.parts_done_well(better), planted.parts_done_well(other)
        if any(parts):
            draw = f"{turn}\n{better}\n{other}"
            return f"Simulated: {'A' if verdict > 0 else 'B'} {planted.reason(*parts, draw=draw)}."
    return f"Simulated: this reads better to me, pair {turn}."


def _tired(mind: Mind, turn: int) -> float:
    """Return how many times as large slips are as in the beginning."""
    return 1.0 + mind.crowd.fatigue * turn / TIRED_AFTER


def _honestly(mind: Mind, seen: float) -> float:
    return -seen if mind.rater.kind == Kind.CONTRARY else seen
