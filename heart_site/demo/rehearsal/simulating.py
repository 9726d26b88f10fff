"""A whole rehearsal: the twin, its raters, the review of them, the ratings, the report."""

import datetime as dt
from collections.abc import Mapping

from annotation.models import Study
from annotation.studies import services as annotation
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.rehearsing import Cast, Tell, rehearse
from heart_site.demo.rehearsal.reporting import RehearsalReport, report_on
from heart_site.demo.simulation.people import SHARES, Kind, draw_population
from ranking.fits import services as fit_services
from ranking.raters import services as rater_services

BEGAN = dt.timedelta(days=4)
"""How long ago a rehearsal begins: all of it has happened when its ratings are computed."""


def simulate(
    *,
    study: Study,
    rehearsal: annotation.Rehearsal,
    now: dt.datetime,
    tell: Tell,
    shares: Mapping[Kind, float] = SHARES,
) -> RehearsalReport:
    """Rehearse a study in its simulated twin, from the entry to the ratings, and report.

    The same numbers again go on where an earlier run was stopped, and then only report.

    Raises
    ------
    annotation.TwinError
        If the study can have no twin; nothing is written then.
    """
    twin = annotation.make_twin(study=study, rehearsal=rehearsal, now=now - BEGAN)
    people = draw_population(n=rehearsal.n_raters, seed=rehearsal.seed, shares=shares)
    planted = evidence.plant(twin, seed=rehearsal.seed)
    cast = Cast(people, planted.truth, rehearsal.seed)
    rehearse(study=twin, cast=cast, tell=tell)
    review = rater_services.review_raters(study=twin, dry_run=False, now=now)
    fit_services.refit_study(study=twin, clock=lambda: now)
    return report_on(twin, cast, planted.strengths, review)
