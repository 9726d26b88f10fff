"""Samples of labels that people check, and reads of them: who labelled what, what differs.

Nobody may learn what somebody else found, or the model, before both people have labelled every
item: whatever tells so is kept back until then.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db.models import BooleanField, Case, Count, Exists, Model, OuterRef, Q, QuerySet, When

from completions.choices import CallState, Presence
from completions.contexts.screening.highlights import MarkedDialogue, mark_dialogue
from completions.dialogues.normaliser import plain
from completions.models import (
    Assistant,
    Completion,
    Dataset,
    HumanLabelling,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
)
from completions.strategies import rules
from completions.strategies.codebook import load_codebook
from completions.strategies.rules import Found, Judged, Scores


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


N_LABELLERS = 2
BOOTSTRAP_SEED = 1

Sample = Any
"""A row of a kind of samples, with its items (see CheckKind)."""


class NoSpotCheckError(LookupError):
    """There is no spot check."""


class Phase(StrEnum):
    """Where a spot check stands."""

    LABELLING = "LABELLING"
    SETTLING = "SETTLING"
    SETTLED = "SETTLED"


@dataclass(frozen=True)
class Said:
    """What a person found in one item, by the keys of a codebook."""

    found: Found
    note: str


@dataclass(frozen=True)
class Ledger:
    """Everything that people said in a spot check."""

    positions: Mapping[int, int]
    """The items whose text is still there: their places, by key, in order."""
    n_deleted: int
    people: Mapping[int, Mapping[int, Said]]
    """By labeller, in the order in which they came, and item; only the newest counts."""
    settled: Mapping[int, Said]
    """By item, where it was adjudicated."""

    @property
    def phase(self) -> Phase:
        """Where the spot check stands."""
        if not self.is_labelled:
            return Phase.LABELLING
        return Phase.SETTLING if self.unsettled else Phase.SETTLED

    @property
    def is_labelled(self) -> bool:
        """Whether two people have labelled every item: from then on they may see each other's."""
        said = self.people.values()
        return len(said) == N_LABELLERS and all(one.keys() >= self.positions.keys() for one in said)

    @property
    def differing(self) -> tuple[int, ...]:
        """The items on which the two people differ, in order; none before both are through."""
        if not self.is_labelled:
            return ()
        one, other = self.people.values()
        return tuple(pk for pk in self.positions if one[pk].found != other[pk].found)

    @property
    def unsettled(self) -> tuple[int, ...]:
        """Those of them that nobody has adjudicated."""
        return tuple(pk for pk in self.differing if pk not in self.settled)

    @property
    def n_settled(self) -> int:
        """How many of them somebody has."""
        return len(self.differing) - len(self.unsettled)

    def n_labelled(self, labeller: int) -> int:
        """Count the items that a person has labelled."""
        return len(self.people.get(labeller, {}).keys() & self.positions.keys())

    def may_label(self, labeller: int) -> bool:
        """Say whether there is a place for this person."""
        return labeller in self.people or len(self.people) < N_LABELLERS

    def next_to_label(self, labeller: int, *, after: int = -1) -> int | None:
        """Return the place of the next item that the person has not labelled, round again."""
        had = self.people.get(labeller, {})
        return _next([at for pk, at in self.positions.items() if pk not in had], after)

    def next_to_settle(self, *, after: int = -1) -> int | None:
        """Return the place of the next item to adjudicate, round again."""
        return _next([self.positions[pk] for pk in self.unsettled], after)

    def agreed(self, item: int) -> Found:
        """Return what both people found in an item."""
        one, other = self.people.values()
        return one[item].found & other[item].found

    def open(self, item: int) -> Found:
        """Return what only one of them found."""
        one, other = self.people.values()
        return one[item].found ^ other[item].found


def spot_checks(dataset: Dataset) -> QuerySet[SpotCheck]:
    """Return the dataset's spot checks, the newest first."""
    return dataset.spot_checks.select_related("assistant").order_by("-pk")


def newest_spot_check(dataset: Dataset) -> SpotCheck:
    """Return the spot check that was drawn last.

    Raises
    ------
    NoSpotCheckError
        If none was drawn.
    """
    found = spot_checks(dataset).first()
    if found is None:
        msg = f"{dataset.name}: there is no spot check; `strategies sample` draws one"
        raise NoSpotCheckError(msg)
    return found


def being_labelled(kind: CheckKind) -> QuerySet[Any, int]:
    """Return what is labelled, by key, of which nobody may learn yet what others found.

    It is all of samples in which an item has not been labelled by two people.
    """
    people = Count(
        "labellings__labeller", filter=Q(labellings__is_adjudication=False), distinct=True
    )
    items = kind.items.objects.filter(kind.is_there).annotate(n_people=people)
    waiting = items.filter(n_people__lt=N_LABELLERS).values("spot_check")
    samples: QuerySet[Any] = kind.items.objects.filter(spot_check__in=waiting)
    return samples.values_list(kind.subject, flat=True)


def keys_of(check: Sample) -> tuple[str, ...]:
    """Return the labels of its codebook."""
    return kind_of(check).keys(check.codebook)


def names_of_people(ledger: Ledger) -> dict[int, str]:
    """Return the labellers' names, by key."""
    return dict(User.objects.filter(pk__in=ledger.people).values_list("pk", "username"))


def item_at(check: Sample, position: int) -> Any:  # noqa: ANN401 (an item of its kind)
    """Return the item at that place with its text, or None; one whose text is deleted is none."""
    kind = kind_of(check)
    found = check.items.select_related(*kind.related, "spot_check")
    return found.filter(kind.is_there, position=position).first()


def ledger_of(check: Sample) -> Ledger:
    """Return all that people said, in two queries."""
    kind = kind_of(check)
    is_there = Case(When(kind.is_there, then=True), default=False, output_field=BooleanField())
    items = check.items.order_by("position")
    places = list(items.annotate(is_there=is_there).values_list("pk", "position", "is_there"))
    rows: Any = kind.labellings.objects.filter(item__spot_check=check).order_by("pk")
    people: dict[int, dict[int, Said]] = {}
    settled: dict[int, Said] = {}
    for row in rows:
        to = settled if row.is_adjudication else people.setdefault(row.labeller_id, {})
        to[row.item_id] = Said(frozenset(row.found), row.note)
    return Ledger(
        positions={pk: position for pk, position, is_there in places if is_there},
        n_deleted=sum(not is_there for *_, is_there in places),
        people=people,
        settled=settled,
    )


def judged_items(check: Sample, ledger: Ledger) -> list[Judged]:
    """Return what the model and people found in each item of a settled spot check, in order."""
    model = found_by_model(check)
    one, other = ledger.people.values()
    return [
        Judged(
            model=frozenset(model[pk]),
            people=(one[pk].found, other[pk].found),
            settled=ledger.settled[pk].found if pk in ledger.settled else ledger.agreed(pk),
        )
        for pk in ledger.positions
    ]


def scores_of(check: Sample, ledger: Ledger) -> Scores | None:
    """Return the model's scores against what people settled on; None before all is settled."""
    if ledger.phase != Phase.SETTLED:
        return None
    items = judged_items(check, ledger)
    return rules.score(items, strategies=keys_of(check), seed=BOOTSTRAP_SEED)


def found_by_model(check: Sample) -> Mapping[int, set[str]]:
    """Return what the model called present, by item."""
    kind = kind_of(check)
    item_of = dict(check.items.values_list(kind.subject, "pk"))
    labels = kind.labels.objects.filter(
        kind.asked_by(check.codebook),
        **{f"call__{kind.subject}__in": list(item_of)},
        call__assistant=check.assistant_id,
        presence=Presence.PRESENT,
    )
    found: dict[int, set[str]] = defaultdict(set)
    for subject, key in labels.values_list(f"call__{kind.subject}", kind.labels.KEY):
        found[item_of[subject]].add(key)
    return found


def asked_of(dataset: Dataset) -> QuerySet[Any]:
    """Return the assistants that were asked, with how far each is, in one query."""

    def among(*states: CallState) -> Count:
        return Count("strategy_calls", filter=Q(strategy_calls__state__in=states))

    asked = Assistant.objects.filter(strategy_calls__completion__context__dataset=dataset)
    return asked.annotate(
        n_done=among(CallState.DONE),
        n_invalid=among(CallState.INVALID),
        n_failed=among(CallState.FAILED),
        n_open=among(CallState.PENDING, CallState.CLAIMED),
    ).order_by("name", "pk")


def dataset_rows() -> list[tuple[Dataset, int, int]]:
    """Return every dataset, how many of its texts a model labelled, and of its spot checks.

    Three queries: asked for each dataset by itself, the texts would be looked at one by one.
    """
    done = StrategyCall.objects.filter(completion=OuterRef("pk"), state=CallState.DONE)
    texts = Completion.objects.filter(Exists(done)).order_by().values_list("context__dataset")
    n_texts = dict(texts.annotate(n=Count("pk")))
    checks = SpotCheck.objects.order_by().values_list("dataset").annotate(n=Count("pk"))
    n_checks = dict(checks)
    rows = Dataset.objects.filter(is_for_checks=False).order_by("name", "pk")
    return [(row, n_texts.get(row.pk, 0), n_checks.get(row.pk, 0)) for row in rows]


def _next(places: Sequence[int], after: int) -> int | None:
    """Return the first place after that one, or else the first."""
    return next((at for at in places if at > after), places[0] if places else None)
