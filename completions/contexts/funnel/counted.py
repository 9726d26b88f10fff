"""What a funnel holds: frozen counts of every step."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from completions.choices import EscalationProfile

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Source:
    """What was imported."""

    dialogues: int
    utterances: int
    turns: int
    couplets: int


@dataclass(frozen=True)
class RuleCount:
    """How many candidates a rule removes: at all, before any other rule does, and it alone."""

    name: str
    removes: int
    removes_first: int
    removes_alone: int


@dataclass(frozen=True)
class Screened:
    """What the rules made of the candidates: removed, without a signal, or suitable.

    ``outdated`` are those that other rules than the present ones screened.
    """

    candidates: int
    versions: tuple[str, ...]
    outdated: int
    rules: tuple[RuleCount, ...]
    removed: int
    no_signal: int
    suitable: int
    suitable_dialogues: int


@dataclass(frozen=True)
class Chosen:
    """Regular contexts that nobody dropped, and the dialogues they are from."""

    contexts: int
    dialogues: int


@dataclass(frozen=True)
class Steps(Generic[Number]):
    """A number for every step from the source to the choice."""

    dialogues: Number
    couplets: Number
    suitable: Number
    chosen: Number


@dataclass(frozen=True)
class Part:
    """An emotion (``problem`` is None then) or a cell: its counts, and its shares of the whole."""

    emotion: str
    problem: str | None
    counts: Steps[int]
    shares: Steps[float]


@dataclass(frozen=True)
class ProfileCount:
    """How the rewrites of one profile ended."""

    profile: str
    planned: int
    under_way: int
    accepted: int
    dropped: int

    @property
    def label(self) -> str:
        """The profile in words."""
        return str(EscalationProfile(self.profile).label)


@dataclass(frozen=True)
class ReasonCount:
    """Why rewrites were dropped."""

    reason: str
    n: int


@dataclass(frozen=True)
class Rewriting:
    """What became of the planned rewrites, and the adversarial contexts in use."""

    planned: int
    under_way: int
    accepted: int
    dropped: int
    reasons: tuple[ReasonCount, ...]
    profiles: tuple[ProfileCount, ...]
    contexts: int
    simulated_contexts: int


@dataclass(frozen=True)
class Opinions:
    """Second opinions: whether an assistant finds suitable what the rules found suitable."""

    asked: int
    waiting: int
    agreed: int
    disagreed: int
    invalid: int
    failed: int
    by_simulated: int


@dataclass(frozen=True)
class Reviews:
    """What people decided, over all contexts."""

    pending: int
    kept: int
    dropped: int


@dataclass(frozen=True)
class NextStep:
    """What can be done next: why, and the command or the page that does it."""

    why: str
    how: str

    @property
    def is_page(self) -> bool:
        """Whether it is done on a page of this site."""
        return self.how.startswith("/")


@dataclass(frozen=True)
class Funnel:
    """The whole way of a dataset, from what was imported to what people kept."""

    dataset: str
    source: Source
    screened: Screened
    chosen: Chosen
    emotions: tuple[Part, ...]
    cells: tuple[Part, ...]
    rewriting: Rewriting
    opinions: Opinions
    reviews: Reviews
    next_steps: tuple[NextStep, ...]
