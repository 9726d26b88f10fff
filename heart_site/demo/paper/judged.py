"""How much was judged, how far those who judged agree, and what was planted to be found."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from statistics import mean

import numpy as np

from annotation.choices import Purpose, RaterState
from annotation.models import Rater, ThemeCheck
from completions.choices import SystemKind
from completions.models import SpotCheck, System
from completions.strategies.rules import Scores
from completions.strategies.spot_check_queries import ledger_of, scores_of
from heart_site.demo.paper import expecting, labelling, planting
from heart_site.demo.paper.number import COUNT, PEOPLE, PLAIN, SHARE, Beside, Number, as_float
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.people import Kind
from heart_site.demo.rehearsal.scoring import detect
from ranking.choices import AnalysisKind
from ranking.findings import ALL_JUDGES

PAIRS_OF_JUDGES = {
    ("openai", "anthropic"): 0.869,
    ("openai", "google"): 0.859,
    ("anthropic", "google"): 0.850,
}
"""The paper prints 85.0, 85.9 and 86.9 %; which pair each belongs to is not on record here."""


def size(beside: Beside) -> Iterator[Number]:
    """Say how large the study is."""
    study = beside.found.study
    number = partial(Number, "Size", unit=COUNT, page=beside.found.page(of=PEOPLE))
    main = evidence.count_answers(study)["main"]
    pairs = study.comparisons.filter(purpose=Purpose.MAIN)
    n_contexts = pairs.values("context").distinct().count()
    note = "Five for each pair; figure 7 has fifteen."
    yield number(what="judgments by people", printed=42_000, found=main, note=note)
    yield number(what="contexts", printed=300, found=n_contexts)
    yield number(what="pairs", printed=8_400, found=pairs.count())
    models = System.objects.filter(
        kind=SystemKind.MODEL, completions__context__dataset=study.dataset
    )
    note = "Printed as 16, and as 18 in figure 7; section 9.4 names twelve."
    yield number(what="models", printed=16, found=models.distinct().count(), note=note)
    n_raters = Rater.objects.filter(study=study).count()
    note = "Printed as 15, and as 8 in figure 7. Here each judges one session."
    yield number(what="raters", printed=15, found=n_raters, note=note)


def agreement(beside: Beside) -> Iterator[Number]:
    """Say how far raters agree with each other."""
    number = partial(Number, "Agreement", page=beside.found.page(AnalysisKind.AGREEMENT))
    alike, kappa = expecting.rater_agreement(beside.ideal)
    rows = beside.found.rows(AnalysisKind.AGREEMENT, "coefficients")
    of_people = {str(row["coefficient"]): row for row in rows if row["panel"] == "people"}
    fleiss = next((row for name, row in of_people.items() if name.startswith("Fleiss")), {})
    found = of_people.get("Raw agreement", {})
    yield number("rater with rater", SHARE, printed=0.795, planted=alike).of(found)
    note = "Printed with ties as an answer: without them 79.5 % would be 0.59."
    yield number("Fleiss' kappa of raters", PLAIN, printed=0.673, planted=kappa, note=note).of(
        fleiss
    )


def judges(beside: Beside) -> Iterator[Number]:
    """Say how far judges agree with raters and with each other."""
    found, ideal, kind = beside.found, beside.ideal, AnalysisKind.AGREEMENT
    number = partial(Number, "Judges", unit=SHARE, page=found.page(kind))
    clear = expecting.judges_with_people(ideal)
    for what, stratum, printed, note in (
        ("judges with people", "all pairs", 0.787, "Printed as 78.7, 78 and about 80 %."),
        ("judges with people, adversarial", "adversarial contexts", 0.76, ""),
    ):
        row = found.row(kind, "majority", judge=ALL_JUDGES, stratum=stratum)
        yield number(what=what, printed=printed, planted=clear, note=note).of(row)
    yield number(
        what="judges with people, ambiguous pairs",
        printed=0.613,
        planted=expecting.judges_with_people(ideal, clear=False),
        found=as_float(found.row(kind, "ambiguous", kind="most do not").get("ahead")),
        note="Pairs on which no side was named by most; held against the side ahead.",
    )
    matrix = {str(row["judge"]): row for row in found.rows(kind, "judges")}
    expected = expecting.judges_with_each_other(ideal)
    for pair, printed in PAIRS_OF_JUDGES.items():
        one, other = (f"simulated-judge-{family}" for family in pair)
        yield number(
            what=" with ".join(planting.JUDGE_NAMES[family] for family in pair),
            printed=printed,
            planted=expected[pair],
            found=as_float(matrix.get(one, {}).get(other)),
            note="Printed of one of the three pairs of judges; of which one is not on record here.",
        )
    three = next(iter(found.rows(kind, "threes")), {})
    yield number(
        what="all three judges",
        printed=0.788,
        planted=expecting.three_judges(ideal),
        found=as_float(three.get("all")),
    )


def people_and_models(beside: Beside) -> Iterator[Number]:
    """Say who is preferred where messages by people and by models meet."""
    page = beside.found.page(AnalysisKind.PEOPLE, PEOPLE)
    number = partial(Number, "People and models", unit=SHARE, page=page)
    row = beside.found.row(AnalysisKind.PEOPLE, "overall", PEOPLE, group="all judgments")
    note = "Printed of the best of three messages by people; here of all three."
    for (what, column, printed), planted in zip(
        (
            ("models preferred", "model", 0.468),
            ("people preferred", "person", 0.358),
            ("ties", "tie", 0.174),
        ),
        expecting.people_against_models(beside.ideal),
        strict=True,
    ):
        found = as_float(row.get(column))
        yield number(what=what, printed=printed, planted=planted, found=found, note=note)


def reasons(beside: Beside) -> Iterator[Number]:
    """Say how often people and judges who agree give a reason in common."""
    found, what = beside.found, "people and judges who agree share a theme"
    row = next(iter(found.rows(AnalysisKind.RATIONALES, "shared")), {})
    page, planted = found.page(AnalysisKind.RATIONALES), expecting.shared_themes(beside.ideal)
    yield Number("Reasons", what, SHARE, page, printed=0.68, planted=planted).of(row)


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
