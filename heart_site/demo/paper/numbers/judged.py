"""How much was judged, and how far those who judged agree."""

from collections.abc import Iterator
from functools import partial

from annotation.choices import Purpose
from annotation.models import Rater
from completions.choices import SystemKind
from completions.models import System
from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.found import PEOPLE
from heart_site.demo.paper.numbers.number import COUNT, PLAIN, SHARE, Beside, Number, as_float
from heart_site.demo.rehearsal import evidence
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
