"""A whole rehearsal of a study, and what it showed as values and as lines for a terminal."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotation.choices import Protocol, RaterState
from annotation.models import Study
from annotation.studies.services import shadow_studies
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.answering import plant_strengths, plant_texts
from heart_site.demo.rehearsal.people import USUAL, Crowd, Kind, draw_population
from heart_site.demo.rehearsal.rehearsing import Cast, Tell, rehearse
from heart_site.demo.rehearsal.scoring import (
    Balance,
    Detection,
    Mismatch,
    balances,
    detect,
    rebuild,
    recovery,
)
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits import queries as ranking
from ranking.fits import services as fit_services
from ranking.models import Rating
from ranking.raters import services as rater_services
from ranking.raters.services.reviewing import Review

SHOWN_MISMATCHES = 10
MOST_POINTS = 5


@dataclass(frozen=True)
class RehearsalReport:
    """What came of a rehearsal.

    ``detection`` is of raters with at least one answer that counts; ``screened`` counts those who
    were not let that far, by kind. ``ratings`` are Elo points by system.
    """

    study: str
    n_raters: int
    states: Mapping[str, int]
    answers: Mapping[str, int]
    n_over_quota: int
    n_judged_twice: int
    sides: tuple[Balance, ...]
    mismatches: tuple[Mismatch, ...]
    detection: Detection
    screened: Mapping[Kind, int]
    findings: Mapping[tuple[Kind, str], int]
    strengths: Mapping[str, float]
    ratings: Mapping[str, float]

    @property
    def recovery(self) -> float | None:
        """Return Spearman's correlation of the ratings with what was planted."""
        return recovery(self.strengths, self.ratings)

    @property
    def is_sound(self) -> bool:
        """Say whether quotas were kept and every draw could be rebuilt."""
        return not (self.n_over_quota or self.n_judged_twice or self.mismatches)


def report_on(
    study: Study, cast: Cast, strengths: Mapping[str, float], review: Review
) -> RehearsalReport:
    """Return what came of the rehearsal, from what is stored and what the review found."""
    kinds = {cast.external_id(person): person.kind for person in cast.people}
    states, judged = evidence.states(study), evidence.judged_by(study)
    screened = [kinds[name] for name, state in states.items() if state == RaterState.SCREENED]
    return RehearsalReport(
        study=study.slug,
        n_raters=len(cast.people),
        states=Counter(states.values()),
        answers=evidence.count_answers(study),
        n_over_quota=evidence.n_over_quota(study),
        n_judged_twice=evidence.n_judged_twice(study),
        sides=balances(evidence.read_shown(study)),
        mismatches=tuple(rebuild(evidence.read_draws(study), evidence.read_plan(study))),
        detection=detect({name: kinds[name] for name in judged}, judged & evidence.excluded(study)),
        screened=Counter(screened),
        findings=Counter(_findings(study, kinds, review)),
        strengths=strengths,
        ratings=_ratings(study),
    )


def _findings(
    study: Study, kinds: Mapping[str, Kind], review: Review
) -> Iterator[tuple[Kind, str]]:
    """Yield what the rules found of whom."""
    names = dict(study.raters.values_list("code", "external_id"))
    for row in review.rows:
        for finding in row.findings:
            rule = finding.rule if finding.is_exclusion else f"warned: {finding.rule}"
            yield kinds[names[row.code]], rule


def _ratings(study: Study) -> dict[str, float]:
    if study.protocol == Protocol.LIKERT:
        return evidence.mean_points(study)
    fit = ranking.latest_fit(study=study, pool=EvaluatorPool.HUMAN, context_set=ContextSet.ALL)
    return dict(Rating.objects.filter(fit=fit).values_list("system__slug", "elo")) if fit else {}


def as_lines(report: RehearsalReport) -> Iterator[str]:
    """Yield the report for a terminal."""
    yield f"{report.study}: {report.n_raters:,} simulated raters; its results mean nothing"
    yield "Raters     " + ", ".join(f"{n:,} {key.lower()}" for key, n in report.states.items())
    yield "Answers    " + ", ".join(f"{n:,} {key}" for key, n in report.answers.items())
    yield f"Over quota {report.n_over_quota}; judged twice by one rater {report.n_judged_twice}"
    yield from _sides(report)
    yield from _rebuilt(report)
    yield from _found(report)
    yield from _order(report)


def _sides(report: RehearsalReport) -> Iterator[str]:
    yield "Sides      chi-square     df       p  largest difference (p near 1: evener than coins)"
    for row in report.sides:
        name, statistic = f"  {row.name}", f"{row.statistic:,.1f}"
        yield f"{name:17}{statistic:>9}{row.df:7,}{row.p:8.4f}{row.largest:5}"


def _rebuilt(report: RehearsalReport) -> Iterator[str]:
    n_wrong = len(report.mismatches)
    yield f"Rebuilt    {report.answers['leases']:,} draws from the seed, {n_wrong} differ"
    for one in report.mismatches[:SHOWN_MISMATCHES]:
        yield f"  lease {one.name}: {one.what}"


def _found(report: RehearsalReport) -> Iterator[str]:
    found = report.detection
    yield f"Exclusion  precision {_share(found.precision)}, recall {_share(found.recall)}"
    yield "  kind       judged  excluded  recall  screened out  found by"
    for kind in Kind:
        rules = [f"{rule} {n}" for (one, rule), n in report.findings.items() if one == kind]
        recall = "" if kind == Kind.HONEST else _share(found.recall_of(kind))
        yield (
            f"  {kind:11}{found.planted[kind]:6}{found.found[kind]:10}{recall:>8}"
            f"{report.screened.get(kind, 0):14}  {', '.join(sorted(rules))}".rstrip()
        )


def _order(report: RehearsalReport) -> Iterator[str]:
    yield f"Order      Spearman of the ratings with what was planted {_share(report.recovery)}"
    digits = 0 if max(report.ratings.values(), default=0) > MOST_POINTS else 2
    by_strength = sorted(report.strengths.items(), key=lambda item: -item[1])
    for system, strength in by_strength:
        rating = report.ratings.get(system)
        yield f"  {system:30}{strength:+7.2f}" + (
            f"{rating:9,.{digits}f}" if rating is not None else ""
        )


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


BEGAN = dt.timedelta(days=4)
"""How long ago a rehearsal begins: all of it has happened when its ratings are computed."""


def simulate(
    *,
    study: Study,
    rehearsal: shadow_studies.Rehearsal,
    now: dt.datetime,
    tell: Tell,
    crowd: Crowd = USUAL,
) -> RehearsalReport:
    """Rehearse a study in its shadow study, from the entry to the ratings, and report.

    The same numbers again go on where an earlier run was stopped, and then only report.

    Raises
    ------
    annotation.ShadowStudyError
        If the study can have no shadow study; nothing is written then.
    """
    shadow = shadow_studies.make_shadow_study(study=study, rehearsal=rehearsal, now=now - BEGAN)
    people = draw_population(n=rehearsal.n_raters, seed=rehearsal.seed, crowd=crowd)
    written, known = evidence.texts_of(shadow)
    strengths = plant_strengths({system for _text, system in written}, seed=rehearsal.seed)
    truth = plant_texts(written, strengths, known=known, seed=rehearsal.seed)
    cast = Cast(people, truth, rehearsal.seed, crowd)
    rehearse(study=shadow, cast=cast, tell=tell)
    review = rater_services.review_raters(study=shadow, dry_run=False, now=now)
    fit_services.refit_study(study=shadow, clock=lambda: now)
    return report_on(shadow, cast, strengths, review)
