"""Do evaluators agree: among themselves, with most people, and as well as people do."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.agreement_among import (
    alike_funnel,
    coefficients,
    judge_tables,
    mark_tables,
    opinions,
    panels,
)
from ranking.analyses.common import (
    Samples,
    decimal,
    end_cells,
    estimate,
    few_dialogues,
    mean_cell,
    mean_of,
    share_ends,
)
from ranking.findings import (
    ALL_JUDGES,
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.numerics.agreement.majority import (
    NO_MAJORITY,
    majorities,
    majority_of_others,
    split_majorities,
)
from ranking.numerics.agreement.opinions import N_VALUES, TIE, Opinions, observed_agreement
from ranking.numerics.agreement.resampled import (
    effective_number,
    mean_correlation,
)
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


def against_majority(faced: Facing, level: float) -> Table:
    """Return how often each judge says what most people say."""
    rows = [
        (name, stratum, *_matched(said, faced, items, level))
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
            *estimate("Agreement", ColumnKind.SHARE),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _matched(
    said: Integers, faced: Facing, items: Booleans, level: float
) -> tuple[Cell, Cell, Cell, Cell]:
    kept = np.flatnonzero(items & faced.is_clear & is_side(said))
    is_alike = (said[kept] == faced.majority[kept]).astype(np.float64)
    found = mean_of(is_alike, faced.held.unit[kept])
    return (len(kept), mean_cell(is_alike), *share_ends(found, level))


def ceiling(faced: Facing, level: float) -> Table:
    """Return judges and single people against the same majorities of the other people."""
    people = faced.people
    target = majority_of_others(
        people.item, people.value, n_items=people.n_items, n_values=N_VALUES
    )
    rows = [
        (name, *_of_one_judge(people, target, said, level)) for name, said in faced.said.items()
    ]
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
            *estimate("Difference", ColumnKind.SHARE),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _of_one_judge(
    people: Opinions, target: Integers, said: Integers, level: float
) -> tuple[Cell, ...]:
    kept = is_side(target) & is_side(people.value) & is_side(said[people.item])
    item, aim = people.item[kept], target[kept]
    by_judge = (said[item] == aim).astype(np.float64)
    by_person = (people.value[kept] == aim).astype(np.float64)
    if not len(item):
        return (0, *(None,) * 5)
    beyond = by_judge - by_person
    found = mean_of(beyond, people.unit[item])
    reach = end_cells(found, level, least=-1.0, most=1.0) if found else (None, None)
    return (len(item), *map(mean_cell, (by_judge, by_person, beyond)), *reach)


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
    ties = mean_cell(by_judges.value == TIE)
    alike = (observed_agreement(one.counts()) for one in (faced.people.on(items), by_judges))
    return (int(items.sum()), *map(decimal, alike), ties, _named_ahead(faced, items))


def _named_ahead(faced: Facing, items: Booleans) -> Cell:
    """Return how often most judges name the side that more people named than the other."""
    below, _tied, above = faced.people.counts().T
    lead, said = np.sign(above - below), list(faced.said.values())[-1]
    kept = items & (lead != 0) & is_side(said)
    return mean_cell(said[kept] - TIE == lead[kept])


def independence(faced: Facing, samples: Samples) -> Table | None:
    """Return how many independent judges the judges are worth, if there are two or more."""
    named = [answers for name, answers in faced.said.items() if name != ALL_JUDGES]
    if len(named) <= 1:
        return None
    said = np.stack(named, axis=1)
    items = np.flatnonzero(faced.is_clear & ((said >= 0).sum(axis=1) > 1))
    if not items.size:
        return None
    errors, unit = _errors(said[items], faced.majority[items, None]), faced.held.unit[items]
    rho = mean_correlation(errors, unit, n_units=samples.n_units)
    has_error = np.nansum(errors, axis=1) > 0.0  # dialogues without one hardly move what is shown
    worth = samples.cells(lambda times: effective_number(len(named), rho(times)), unit[has_error])
    return Table(
        "independence",
        "How many independent judges are they worth?",
        "An error is 1 where a judge names the other side than most people, one half where it "
        "says a tie. With n judges whose errors correlate by r on average, the number is "
        "n / (1 + (n - 1) r): judges who err together are worth fewer. Errors in few dialogues "
        "tell little of r, and the interval is rough.",
        (
            Column("judges", "Judges", ColumnKind.COUNT),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("correlation", "Mean correlation of errors"),
            *estimate("Worth independent judges"),
        ),
        ((len(named), len(items), decimal(rho(np.ones((1, samples.n_units)))[0]), *worth),),
    )


def _errors(said: Integers, majority: Integers) -> Floats:
    wrong = np.where(said == TIE, 0.5, (said != majority).astype(np.float64))
    return np.where(said < 0, np.nan, wrong)


MOST_TAKEN = 10
MOST_DRAWS = 10
MOST_ENTRIES = 200_000
LINES = (
    Column("people", "People with the other people", ColumnKind.SHARE),
    Column("judges", "Judges with the other judges", ColumnKind.SHARE),
    Column("judges_people", "Judges with people", ColumnKind.SHARE),
)


def steadiness(faced: Facing, *, seed: int) -> Table | None:
    """Return how often the majority of few says what the majority of the others says."""
    people, judges = faced.people, faced.held.by_judges()
    most = max((int(np.bincount(one.item).max(initial=0)) for one in (people, judges)), default=0)
    rows = []
    for n_taken in range(1, min(most, MOST_TAKEN) + 1):
        rng = np.random.default_rng([seed, n_taken])
        among_people, _ = _with(people, n_taken, rng, faced.majority)
        rows.append((n_taken, among_people, *_with(judges, n_taken, rng, faced.majority)))
    kept = tuple(row for row in rows if any(cell is not None for cell in row[1:]))
    if not kept:
        return None
    return Table(
        "steadiness",
        "How many evaluators are enough?",
        "So many evaluators of each pair are drawn at random, and their majority is held against "
        "that of all others who judged the pair, or of people; pairs where either names no side "
        f"are left out. Means of up to {MOST_DRAWS} draws.",
        (Column("x", "Evaluators drawn", ColumnKind.COUNT), *LINES),
        kept,
        Picture.LINES,
    )


def _with(
    held: Opinions, n_taken: int, rng: np.random.Generator, aim: Integers
) -> tuple[Cell, Cell]:
    """Return the agreement of so many with the rest, and with an aim, over several draws."""
    alike = np.zeros(2, dtype=np.int64)
    n = np.zeros(2, dtype=np.int64)
    for _ in range(_draws(len(held.item))):
        some, rest = split_majorities(
            held.item,
            held.value,
            n_taken=n_taken,
            n_items=held.n_items,
            n_values=N_VALUES,
            rng=rng,
        )
        other = np.stack([rest, aim])
        kept = is_side(some) & is_side(other)
        alike += ((some == other) & kept).sum(axis=1)
        n += kept.sum(axis=1)
    with_rest, with_aim = (decimal(a / b) if b else None for a, b in zip(alike, n, strict=True))
    return with_rest, with_aim


def _draws(n_opinions: int) -> int:
    """Return how many draws keep the work below the most entries."""
    return max(1, min(MOST_DRAWS, MOST_ENTRIES // max(n_opinions, 1)))


METHOD = (
    "Raw agreement, the kappas of Cohen (1960) and Fleiss (1971), Krippendorff's alpha (2011) and "
    "agreement with the majority of people, of pairs in one fixed order; intervals are percentiles "
    "over resampled source dialogues, expanded for few, those of agreement with a majority "
    "Wilson's (1927) by dialogue, of differences Student's: they hold for other dialogues judged "
    "by these evaluators. Of an evaluator's several answers to a pair the side that came out ahead "
    "counts, evenly is a tie; nobody is compared with himself."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Compare evaluators with each other, judges with people, and people with people.

    Raises
    ------
    AnalysisRefusedError
        If no pair was judged by two.
    """
    held = opinions(inputs.columns)
    if not (held.counts().sum(axis=1) > 1).any():
        msg = "No pair was judged by two evaluators, so nobody can agree."
        raise AnalysisRefusedError(msg)
    samples = Samples.drawn(len(inputs.columns.units), inputs.method)
    faced = facing(held, _adversarial(inputs))
    tables = [
        coefficients(held, samples),
        *mark_tables(inputs),
        *judge_tables(held),
        *_faced(faced, samples),
    ]
    steady = steadiness(faced, seed=inputs.method.seed)
    tables += [steady] if steady else []
    for place, (among, panel) in enumerate(panels(held).items(), start=1):
        tables += alike_funnel(f"funnel-{place}", among, panel)
    return Findings(METHOD, tuple(tables), _warnings(held, samples))


def _adversarial(inputs: AnalysisInputs) -> Booleans | None:
    """Say which pairs are of adversarial contexts, or nothing where that is not known."""
    try:
        return inputs.sources.items().is_adversarial
    except AnalysisRefusedError:
        return None


def _faced(faced: Facing, samples: Samples) -> list[Table]:
    """Return what judges and people have to do with each other, if both judged."""
    if not len(faced.people.item) or not faced.said:
        return []
    tables = [
        against_majority(faced, samples.level),
        ceiling(faced, samples.level),
        ambiguous(faced),
    ]
    worth = independence(faced, samples)
    return [*tables, worth] if worth else tables


def _warnings(held: Opinions, samples: Samples) -> tuple[str, ...]:
    warnings = []
    if held.n_repeated:
        warnings.append(
            f"{held.n_repeated} judgments repeat an evaluator's own on the same pair, and were "
            "taken together with it."
        )
    n_alone = int((held.counts().sum(axis=1) == 1).sum())
    if n_alone:
        warnings.append(f"{n_alone} pairs have one answer alone and say nothing of agreement.")
    return (*warnings, *few_dialogues(samples.n_units))
