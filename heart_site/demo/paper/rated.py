"""Ratings of systems, dimension by dimension too, and what goes with them."""

import math
from collections.abc import Iterator
from functools import partial
from statistics import mean

import scipy

from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.number import (
    JUDGES,
    PEOPLE,
    PLAIN,
    POINTS,
    SHARE,
    Beside,
    Number,
    Row,
    as_float,
    name_of,
)
from ranking.choices import AnalysisKind, PeopleKind
from ranking.models import HumanRating, Rating
from ranking.numerics.elo import ELO_PER_LOG_UNIT

BY_CHANCE = "A system may happen to write better in these contexts than is planted of it."


def elo(beside: Beside) -> Iterator[Number]:
    """Give each system's points, and from the first to the last."""
    ratings, planted = beside.found.ratings(PEOPLE), beside.elo
    number = partial(Number, "Elo", unit=POINTS, page=beside.found.page(of=PEOPLE))
    for slug, row in beside.systems.items():
        printed = None if row is None else row.elo
        what = name_of(row)
        yield number(what=what, printed=printed, planted=planted[slug]).of(_row(ratings.get(slug)))
    points = [rating.elo for rating in ratings.values()]
    yield number(
        what="from the first to the last",
        printed=268.7,
        planted=max(planted.values()) - min(planted.values()),
        found=max(points) - min(points) if points else None,
        note="Printed ratings and win rates cannot come from one fit of whole wins, by which the "
        "rates span 784 points. Soft scores, as the paper's code has them, give both.",
    )


def win_rates(beside: Beside) -> Iterator[Number]:
    """Give the share of its judgments that each system won, ties half."""
    ratings, planted = beside.found.ratings(PEOPLE), expecting.win_rates(beside.ideal)
    number = partial(Number, "Win rate", unit=SHARE, page=beside.found.page(of=PEOPLE))
    for slug, row in beside.systems.items():
        one, printed = ratings.get(slug), None if row is None else row.win_rate
        found = None if one is None else (one.wins + one.ties / 2) / one.n_judgments
        yield number(what=name_of(row), printed=printed, planted=planted[slug], found=found)


def dimensions(beside: Beside) -> Iterator[Number]:
    """Give how often each system is ahead on each dimension, as judges mark it."""
    ratings, planted = beside.found.ratings(JUDGES), expecting.dimension_rates(beside.ideal)
    number = partial(Number, "Dimensions", unit=SHARE, page=beside.found.page(of=JUDGES))
    for slug, row in beside.systems.items():
        rates = ratings[slug].dimension_rates.all() if slug in ratings else ()
        found = {rate.dimension: rate.wins / rate.n_marks for rate in rates}
        for key, expected in planted[slug].items():
            printed = None if row is None else row.shares[key]
            what = f"{name_of(row)}, {key}"
            yield number(what=what, printed=printed, planted=expected, found=found.get(key))


def peoples_messages(beside: Beside) -> Iterator[Number]:
    """Give the ratings of people's messages taken together, and of the best of each context."""
    rows = {row.kind: row for row in HumanRating.objects.filter(fit=beside.found.fits[PEOPLE])}
    page = beside.found.page(of=PEOPLE)
    number = partial(Number, "People's messages", unit=POINTS, page=page)
    printed, best = planting.row_of(planting.BEST_HUMAN).elo, expecting.best_human(beside.ideal)
    kind = PeopleKind.AVERAGE
    average = number(what=kind.label, planted=beside.elo[planting.HUMAN_SLUG])
    yield average.of(_row(rows.get(kind)))
    for kind, note in (
        (
            PeopleKind.BEST_CROSS_FITTED,
            "Planted is the truly best message: who chooses by votes chooses a little worse.",
        ),
        (
            PeopleKind.BEST_PLAIN,
            "As the paper has it: chosen and scored by the same votes, so too high.",
        ),
    ):
        one = number(what=kind.label, printed=printed, planted=best, note=note)
        yield one.of(_row(rows.get(kind)))


def speed(beside: Beside) -> Iterator[Number]:
    """Say how ratings go with speed and with an index of capability."""
    models = planting.models()
    known = [one for one in models if one.published.intelligence_index is not None]
    of_time = scipy.stats.spearmanr(
        [beside.elo[one.slug] for one in models], [one.ttft_ms for one in models]
    )
    of_index = scipy.stats.pearsonr(
        [beside.elo[one.slug] for one in known],
        [one.published.intelligence_index for one in known],
    )
    page = beside.found.page(AnalysisKind.LATENCY, PEOPLE)
    number = partial(Number, "Speed and capability", unit=PLAIN, page=page)
    for label, name, printed, planted, note in (
        (
            "time to the first token, logarithm",
            "Spearman",
            0.53,
            of_time,
            "Times are planted where the paper prints none, and waited for at a fiftieth.",
        ),
        ("index", "Pearson", 0.70, of_index, "The index is that of the model imitated."),
    ):
        row = beside.found.row(
            AnalysisKind.LATENCY, "correlations", PEOPLE, figure=label, coefficient_of=name
        )
        yield number(
            what=f"Elo against the {label}, {name}",
            printed=printed,
            planted=float(planted.statistic),
            found=as_float(row.get("coefficient")),
            low=as_float(row.get("resampled_low")),
            high=as_float(row.get("resampled_high")),
            note=note,
        )


def factors(beside: Beside) -> Iterator[Number]:
    """Say how far the dimensions measure one thing."""
    page = beside.found.page(AnalysisKind.FACTORS)
    number = partial(Number, "Factors", unit=PLAIN, page=page)
    note = (
        "Printed of the 18 rows of the leaderboard. Planted and found of single messages, in which "
        "simulated dimensions are drawn one by one."
    )
    names = ("Variance of the first factor", "Cronbach's alpha")
    values = zip(names, (0.94, 0.983), expecting.factors(beside.ideal), strict=True)
    for what, printed, planted in values:
        row = beside.found.row(AnalysisKind.FACTORS, "reliability", figure=what)
        yield number(what=what, printed=printed, planted=planted, note=note).of(row)


def intervals(beside: Beside) -> Iterator[Number]:
    """Give the paper's intervals beside those that hold."""
    page, ratings = beside.found.page(of=PEOPLE), list(beside.found.ratings(PEOPLE).values())
    number = partial(Number, "Intervals", page=page)
    for how, ends, printed, note in (
        ("1/sqrt(n)", _by_count, 5.0, "Printed at 4,667 judgments of each system."),
        ("dialogues resampled", _resampled, None, ""),
    ):
        reach = [ends(row) for row in ratings]
        width = mean(high - low for low, high in reach) / 2 if reach else None
        yield number(f"mean half width, {how}", POINTS, printed=printed, found=width, note=note)
        for of, planted, told in (
            ("any texts", beside.elo, ""),
            ("the texts at hand", beside.elo_of_texts, BY_CHANCE),
        ):
            held = [
                low <= planted[row.system.slug] <= high
                for row, (low, high) in zip(ratings, reach, strict=True)
            ]
            yield number(
                f"systems with the planted Elo of {of} inside, {how}",
                SHARE,
                planted=0.95,
                found=mean(held) if held else None,
                note=told,
            )


def _by_count(row: Rating) -> tuple[float, float]:
    width = 1.96 * ELO_PER_LOG_UNIT / math.sqrt(row.n_judgments)
    return row.elo - width, row.elo + width


def _resampled(row: Rating) -> tuple[float, float]:
    return row.elo_low, row.elo_high


def recovery(beside: Beside) -> Iterator[Number]:
    """Say whether the order of the systems is the planted one."""
    ratings, planted = beside.found.ratings(PEOPLE), planting.strengths()
    number = partial(Number, "Recovery", unit=PLAIN, page=beside.found.page(of=PEOPLE))
    for of, by_system in (("any texts", planted), ("the texts at hand", beside.elo_of_texts)):
        found = scipy.stats.spearmanr(
            [by_system[slug] for slug in ratings], [row.elo for row in ratings.values()]
        )
        what = f"planted and found strengths of {of}, Spearman"
        yield number(what=what, planted=1.0, found=as_float(float(found.statistic)))


def _row(rating: Rating | HumanRating | None) -> Row:
    """Return a rating as a row of an analysis."""
    if rating is None:
        return {}
    return {"value": rating.elo, "low": rating.elo_low, "high": rating.elo_high}
