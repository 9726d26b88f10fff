"""A whole rehearsal: the shadow study, its raters, the review of them, the ratings, the report."""

import datetime as dt

from annotation.models import Study
from annotation.studies.services import shadow_studies
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.rehearsing import Cast, Tell, rehearse
from heart_site.demo.rehearsal.reporting import RehearsalReport, report_on
from heart_site.demo.simulation.people import USUAL, Crowd, draw_population
from ranking.fits import services as fit_services
from ranking.raters import services as rater_services

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
    planted = evidence.plant(shadow, seed=rehearsal.seed)
    cast = Cast(people, planted.truth, rehearsal.seed, crowd)
    rehearse(study=shadow, cast=cast, tell=tell)
    review = rater_services.review_raters(study=shadow, dry_run=False, now=now)
    fit_services.refit_study(study=shadow, clock=lambda: now)
    return report_on(shadow, cast, planted.strengths, review)
