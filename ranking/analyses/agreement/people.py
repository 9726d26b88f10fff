"""LLM judges against the majority of people, and people against most of the others."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ranking.analyses.agreement.opinions import Samples
from ranking.analyses.common import decimal
from ranking.findings import ALL_JUDGES, Cell, Column, ColumnKind, Picture, Table
from ranking.numerics.agreement.effective import effective_number, mean_correlation
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities, majority_of_others
from ranking.numerics.agreement.opinions import N_VALUES, TIE, Opinions
from ranking.numerics.agreement.resampled import ratio, shares_of
from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class Facing:
    """People's opinions and majority beside what each judge, and all together, say.

    ``majority`` and each of ``said`` have shape (n_items,): the index of a value, or -1.
    """

    held: Opinions
    people: Opinions
    majority: Integers
    said: dict[str, Integers]
    is_adversarial: Booleans | None

    @property
    def is_clear(self) -> Booleans:
        """Say for each pair whether most people prefer one side."""
        return is_side(self.majority)

    @property
    def was_judged(self) -> Booleans:
        """Say for each pair whether people judged it."""
        found: Booleans = np.bincount(self.people.item, minlength=self.held.n_items) > 0
        return found

    def strata(self) -> Iterator[tuple[str, Booleans]]:
        """Yield all pairs, and regular and adversarial ones if there are both."""
        yield "all pairs", np.ones(self.held.n_items, dtype=np.bool_)
        hostile = self.is_adversarial
        if hostile is not None and hostile.any() and not hostile.all():
            yield "regular contexts", ~hostile
            yield "adversarial contexts", hostile


def facing(held: Opinions, is_adversarial: Booleans | None) -> Facing:
    """Set judges beside people."""
    people, by_judges = held.people(), held.by_judges()
    said = {held.evaluators[one]: held.by_evaluator(one) for one in held.judges}
    if len(said) > 1:
        said[ALL_JUDGES] = majorities(by_judges.counts())
    return Facing(held, people, majorities(people.counts()), said, is_adversarial)


def is_side(value: Integers) -> Booleans:
    """Say where a value is one of the two sides: no tie, and not missing."""
    found: Booleans = (value != NO_MAJORITY) & (value != TIE)
    return found


def against_majority(faced: Facing, samples: Samples) -> Table:
    """Return how often each judge says what most people say."""
    rows = [
        (name, stratum, *_matched(said, faced, items, samples))
        for stratum, items in faced.strata()
        for name, said in faced.said.items()
    ]
    return Table(
        "majority",
        "Do judges say what most people say?",
        "Share of the pairs on which a judge names the side that more people named than named the "
        "other side or a tie. Pairs without such a side, and the judge's own ties, are left out: "
        "read the number of pairs beside it.",
        (
            Column("judge", "Judge", ColumnKind.EVALUATOR),
            Column("stratum", "Pairs of", ColumnKind.TEXT),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("value", "Agreement", ColumnKind.SHARE),
            Column("low", "from", ColumnKind.SHARE),
            Column("high", "to", ColumnKind.SHARE),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _matched(
    said: Integers, faced: Facing, items: Booleans, samples: Samples
) -> tuple[Cell, Cell, Cell, Cell]:
    kept = np.flatnonzero(items & faced.is_clear & is_side(said))
    is_alike = said[kept] == faced.majority[kept]
    share = shares_of(is_alike, faced.held.unit[kept], n_units=samples.n_units)
    return (len(kept), *samples.cells(share))


def ceiling(faced: Facing, samples: Samples) -> Table:
    """Return judges and single people against the same majorities of the other people."""
    people = faced.people
    target = majority_of_others(
        people.item, people.value, n_items=people.n_items, n_values=N_VALUES
    )
    rows = [(name, *_beside(people, target, said, samples)) for name, said in faced.said.items()]
    return Table(
        "ceiling",
        "Do judges agree with people as people do?",
        "Each person is held against the majority of the other people who judged the pair, and "
        "the judge against the same majority, on the same pairs, where the majority, the person "
        "and the judge all name a side. A difference above 0 is in favour of the judge; where "
        "the interval holds 0 the two cannot be told apart.",
        (
            Column("judge", "Judge", ColumnKind.EVALUATOR),
            Column("comparisons", "Comparisons", ColumnKind.COUNT),
            Column("judge_share", "Judge with people", ColumnKind.SHARE),
            Column("person_share", "Person with people", ColumnKind.SHARE),
            Column("value", "Difference", ColumnKind.SHARE),
            Column("low", "from", ColumnKind.SHARE),
            Column("high", "to", ColumnKind.SHARE),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _beside(
    people: Opinions, target: Integers, said: Integers, samples: Samples
) -> tuple[Cell, ...]:
    kept = is_side(target) & is_side(people.value) & is_side(said[people.item])
    item, aim = people.item[kept], target[kept]
    by_judge = (said[item] == aim).astype(np.float64)
    by_person = (people.value[kept] == aim).astype(np.float64)
    if not len(item):
        return (0, *(None,) * 5)
    difference = ratio(
        by_judge - by_person, np.ones(len(item)), people.unit[item], n_units=samples.n_units
    )
    return (
        len(item),
        decimal(by_judge.mean()),
        decimal(by_person.mean()),
        *samples.cells(difference),
    )


def ambiguous(faced: Facing) -> Table:
    """Return what judges do where most people prefer one side, and where they do not."""
    kinds = (
        ("most people prefer one side", faced.is_clear),
        ("most do not", ~faced.is_clear & faced.was_judged),
        ("most people see a tie", faced.majority == TIE),
        ("people are divided", (faced.majority == NO_MAJORITY) & faced.was_judged),
    )
    rows = [(name, *_of_kind(faced, items)) for name, items in kinds]
    return Table(
        "ambiguous",
        "What judges do with ambiguous pairs",
        "Pairs by whether people have a clear majority. Judges who say a tie more often, or agree "
        "less with each other, where people are divided see the same difficulty. The side ahead is "
        "the one that more people named than the other; where most judges name a side, too, the "
        "last column says how often it is that one.",
        (
            Column("kind", "Pairs where", ColumnKind.TEXT),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("people", "Two people agree", ColumnKind.SHARE),
            Column("judges", "Two judges agree", ColumnKind.SHARE),
            Column("ties", "Judges' answers that are ties", ColumnKind.SHARE),
            Column("ahead", "Judges name the side ahead", ColumnKind.SHARE),
        ),
        tuple(rows),
    )


def _of_kind(faced: Facing, items: Booleans) -> tuple[Cell, ...]:
    by_judges = faced.held.by_judges().on(items)
    ties = (by_judges.value == TIE).mean() if len(by_judges.value) else np.nan
    alike = [_raw(one.counts()) for one in (faced.people.on(items), by_judges)]
    return (int(items.sum()), *alike, decimal(ties), _named_ahead(faced, items))


def _named_ahead(faced: Facing, items: Booleans) -> Cell:
    """Return how often most judges name the side that more people named than the other."""
    below, _tied, above = faced.people.counts().T
    lead, said = np.sign(above - below), list(faced.said.values())[-1]
    kept = items & (lead != 0) & is_side(said)
    return decimal((said[kept] - TIE == lead[kept]).mean()) if kept.any() else None


def _raw(counts: Integers) -> Cell:
    judged = counts.sum(axis=1)
    n = (judged * (judged - 1)).sum()
    return decimal((counts * (counts - 1)).sum() / n) if n else None


def independence(faced: Facing, samples: Samples) -> Table | None:
    """Return how many independent judges the judges are worth, if there are two or more."""
    said = [answers for name, answers in faced.said.items() if name != ALL_JUDGES]
    if len(said) <= 1 or not faced.is_clear.any():
        return None
    items = np.flatnonzero(faced.is_clear)
    errors = np.stack([_errors(answers[items], faced.majority[items]) for answers in said], axis=1)
    rho = mean_correlation(errors, faced.held.unit[items], n_units=samples.n_units)
    found = samples.of(lambda times: effective_number(len(said), rho(times)))
    return Table(
        "independence",
        "How many independent judges are they worth?",
        "An error is 1 where a judge names the other side than most people, one half where it "
        "says a tie. With n judges whose errors correlate by r on average, the number is "
        "n / (1 + (n - 1) r): judges who err together are worth fewer.",
        (
            Column("judges", "Judges", ColumnKind.COUNT),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("correlation", "Mean correlation of errors"),
            Column("value", "Worth independent judges"),
            Column("low", "from"),
            Column("high", "to"),
        ),
        (
            (
                len(said),
                len(items),
                decimal(rho(np.ones((1, samples.n_units)))[0]),
                decimal(found.value),
                decimal(found.low),
                decimal(found.high),
            ),
        ),
    )


def _errors(said: Integers, majority: Integers) -> Floats:
    wrong = np.where(said == TIE, 0.5, (said != majority).astype(np.float64))
    return np.where(said < 0, np.nan, wrong)
