"""What analyses may know beyond who preferred what: systems, messages, reasons, times, labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class SystemFacts:
    """What is known of a system; figures are None where they are not known.

    ``kind`` is MODEL, HUMAN or ORIGINAL. ``intelligence_index`` and ``published_ttft_ms`` come
    from outside with the catalogue; ``measured_ttft_ms`` is the median over the system's own
    calls for the study's contexts. Times to the first token are in milliseconds.
    """

    name: str
    kind: str
    family: str
    is_simulated: bool
    intelligence_index: float | None = None
    published_ttft_ms: float | None = None
    measured_ttft_ms: float | None = None


@dataclass(frozen=True)
class ItemFacts:
    """The pairs that were judged, in the order of `JudgmentColumns.item`.

    Attributes
    ----------
    context : integer array of shape (n_items,)
        Index of the context, from 0; contexts of one dialogue differ.
    is_adversarial : boolean array of shape (n_items,)
        Whether the context is one rewritten to be hostile.
    message : integer array of shape (n_items, 2)
        Indices, from 0, of the first and of the second message of each pair.
    system : integer array of shape (n_messages,)
        Index of each message's system in `JudgmentColumns.systems`.
    """

    context: Integers
    is_adversarial: Booleans
    message: Integers
    system: Integers


@dataclass(frozen=True)
class JudgmentFacts:
    """More on single judgments, in the order of `JudgmentColumns`; shape (n_judgments,) each.

    ``rationales`` are texts, empty where none was given. ``seconds`` is the time that a person
    looked at the pair, pauses and hidden pages left out, and NaN for judges. ``place`` counts the
    judgments of an evaluator in this order, from 0. ``probability`` is a judge's own that the
    first message wins, from the probabilities of its tokens, and NaN where not known.
    """

    rationales: tuple[str, ...]
    seconds: Floats
    place: Integers
    probability: Floats


@dataclass(frozen=True)
class StrategyLabels:
    """Which strategies a model found in the messages of `ItemFacts`.

    ``probability`` has shape (n_messages, n_strategies): 1 for present, 0 for absent, 0.5 for
    uncertain, NaN for messages that were not labelled. ``labellers`` are the names of the models
    that labelled; their names say so where they are simulated.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    probability: Floats
    labellers: tuple[str, ...]


@dataclass(frozen=True)
class ThemeLabels:
    """Which themes models found in the rationales of `JudgmentFacts`, by the newest codebook.

    ``presence`` has shape (n_coders, n_judgments, n_themes), themes as in the codebook: 1 for
    present, 0 for absent, 0.5 for uncertain, NaN for rationales that the coder has not read.
    ``coders`` are the names of the models, which say so where they are simulated.
    """

    coders: tuple[str, ...]
    presence: Floats


@dataclass(frozen=True)
class TickedReasons:
    """Which reasons raters ticked, in the order of `JudgmentFacts`; a rater's page names no theme.

    ``ticked`` has shape (n_judgments, n_chips); ``words`` and the keys of the ``themes``, empty
    where a chip has none, are those of the study file.
    """

    words: tuple[str, ...]
    themes: tuple[str, ...]
    ticked: Booleans


@dataclass(frozen=True)
class OtherOrder:
    """The ratings of another study of the same dialogues: its title, whose judgments, and Elo.

    ``elo`` is by the slugs of systems.
    """

    study: str
    pool: str
    fit: str
    elo: Mapping[str, float]


class Sources(Protocol):
    """Where an analysis gets them; each is read when it is asked for."""

    def systems(self) -> Mapping[str, SystemFacts]:
        """Return the facts of each system by its slug."""

    def judge_families(self) -> Mapping[str, str]:
        """Return the family of each LLM judge by its slug."""

    def items(self) -> ItemFacts:
        """Return the pairs and their messages."""

    def judgments(self) -> JudgmentFacts:
        """Return reasons, times and probabilities."""

    def strategies(self) -> StrategyLabels | None:
        """Return the strategy labels, or None where no message was labelled."""

    def themes(self) -> ThemeLabels | None:
        """Return what models found in rationales, or None where they read none."""

    def chips(self) -> TickedReasons | None:
        """Return the reasons that raters ticked, or None where the study has none to tick."""
