"""What was planted to be found: labels that err, raters who cheat, and what sways the others."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from statistics import mean

import numpy as np

from annotation.choices import RaterState
from annotation.models import ThemeCheck
from completions.models import SpotCheck
from completions.strategies.rules import Scores
from completions.strategies.spot_check_queries import ledger_of, scores_of
from heart_site.demo.paper import expecting, labelling, planting
from heart_site.demo.paper.numbers.number import SHARE, Beside, Number, as_float
from heart_site.demo.rehearsal import evidence
from heart_site.demo.simulation.people import Kind
from heart_site.demo.simulation.scoring import detect
from ranking.choices import AnalysisKind


def strategies(beside: Beside) -> Iterator[Number]:
    """Say how evenly people and models use the strategies of support."""
    rates = expecting.strategy_rates(beside.ideal)
    rows = {str(row["of"]): row for row in beside.found.rows(AnalysisKind.STRATEGIES, "use")}
    page = beside.found.page(AnalysisKind.STRATEGIES)
    note = "The paper prints these by system; its figures are not on record here."
    models = [one.slug for one in planting.models()]
    for who, slugs in (("people", [planting.HUMAN_SLUG]), ("models, mean", models)):
        of_each = [np.array(list(rates[slug].values())) for slug in slugs]
        for what, column, planted in (
            ("SD", "sd", mean(float(one.std(ddof=1)) for one in of_each)),
            ("range", "range", mean(float(np.ptp(one)) for one in of_each)),
        ):
            known = [as_float(rows[slug][column]) for slug in slugs if slug in rows]
            values = [one for one in known if one is not None]
            found, told = mean(values) if values else None, f"{what} of the rates, {who}"
            yield Number("Strategies", told, SHARE, page, planted=planted, found=found, note=note)


def labels(beside: Beside) -> Iterator[Number]:
    """Say how well the labels stand against what people settled on."""
    study = beside.found.study
    note = "Planted: what two people and a third get wrong, by the rates at which they err."
    for what, printed, page, samples in (
        (
            "strategies",
            0.86,
            f"strategies score --dataset {study.dataset.name}",
            SpotCheck.objects.filter(dataset=study.dataset),
        ),
        (
            "themes",
            None,
            f"/console/studies/{study.slug}/themes/",
            ThemeCheck.objects.filter(study=study),
        ),
    ):
        sample = samples.order_by("-pk").first()
        scores = None if sample is None else scores_of(sample, ledger_of(sample))
        low, high = (scores and scores.interval) or (None, None)
        yield Number(
            "Labels",
            f"macro-F1 of {what}",
            SHARE,
            page,
            printed=printed,
            planted=None if scores is None else _expected_f1(scores),
            found=None if scores is None else scores.macro_f1,
            low=low,
            high=high,
            note=note,
        )


def _expected_f1(scores: Scores) -> float:
    """Return the macro-F1 that people who err at the planted rates would bring about."""
    missed = labelling.share_wrong(is_there=True)
    imagined = labelling.share_wrong(is_there=False)
    found = []
    for label in scores.labels:
        there, absent = label.n_model, scores.n_items - label.n_model
        if there or label.n_settled:
            both = there * (1 - missed)
            found.append(2 * both / (there + both + absent * imagined))
    return mean(found)


def cheaters(beside: Beside) -> Iterator[Number]:
    """Say how many of the planted cheaters were kept out of the ratings."""
    study, cast = beside.found.study, beside.cast
    states = evidence.states(study)
    kinds = {cast.external_id(one): one.kind for one in cast.people}
    entered = {name: kinds[name] for name in states}
    screened = {name for name, state in states.items() if state == RaterState.SCREENED}
    kept_out = detect(entered, evidence.excluded(study) | screened)
    page = f"/console/studies/{study.slug}/raters/"
    number = partial(Number, "Cheaters", unit=SHARE, page=page)
    for what, found in (("precision", kept_out.precision), ("recall", kept_out.recall)):
        yield number(what=f"screened out or excluded, {what}", planted=1.0, found=found)
    for kind, n in Counter(entered.values()).items():
        planted, found = float(kind != Kind.HONEST), kept_out.found[kind] / n
        yield number(what=f"{kind.value} raters kept out", planted=planted, found=found)


def biases(beside: Beside) -> Iterator[Number]:
    """Say whether the audits find what sways raters and judges."""
    number = partial(Number, "Biases", unit=SHARE, page=beside.found.page(AnalysisKind.BIAS))
    for table, what, planted in (
        ("position", "A wins where there is a winner", expecting.first_position(beside.ideal)),
        ("verbosity", "wins more if twice as long", expecting.twice_the_length(beside.ideal)),
    ):
        for kind, value in zip(("People", "LLM judges"), planted, strict=True):
            row = beside.found.row(AnalysisKind.BIAS, table, kind=kind)
            yield number(what=f"{what}, {kind}", planted=value).of(row)
