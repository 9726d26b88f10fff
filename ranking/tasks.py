"""Celery entry points of the ranking app; each calls one service."""

from django.utils import timezone

from access.background import app
from ranking import refits
from ranking.fits import services as fit_services
from ranking.raters import services as rater_services
from ranking.releases import services as release_services
from ranking.report import services as report_services


@app.task(ignore_result=True)
def refit_changed_studies() -> int:
    """Claim the fits that are out of date and hand each to a worker; safe to run twice."""
    claimed = fit_services.claim_all_changed_fits(now=timezone.now())
    for fit_id in claimed:
        run_fit.delay(fit_id=fit_id)
    return len(claimed)


@app.task(ignore_result=True)
def run_fit(*, fit_id: int) -> None:
    """Compute one claimed fit, and let an adaptive plan follow it; safe to run twice."""
    fit_services.fit_and_adapt(fit_id=fit_id, clock=timezone.now)


@app.task(ignore_result=True)
def refit_now(*, study_id: int) -> None:
    """Claim whatever ratings of one study are out of date and hand each to a worker."""
    claimed = refits.claim_refit(study_id=study_id, now=timezone.now())
    for fit_id in claimed.fits:
        run_fit.delay(fit_id=fit_id)
    for analysis_id in claimed.analyses:
        run_analysis.delay(analysis_id=analysis_id)


@app.task(ignore_result=True)
def claim_due_analyses() -> int:
    """Claim the analyses that are due next and hand each to a worker; safe to run twice."""
    claimed = report_services.claim_due_analyses(now=timezone.now())
    for analysis_id in claimed:
        run_analysis.delay(analysis_id=analysis_id)
    return len(claimed)


@app.task(ignore_result=True)
def run_analysis(*, analysis_id: int) -> None:
    """Compute one claimed analysis; safe to run twice."""
    report_services.run_analysis(analysis_id=analysis_id, clock=timezone.now)


@app.task(ignore_result=True)
def review_judged_studies() -> int:
    """Beat tick: hand each study that was judged lately to a worker that reviews its raters.

    Studies that were never measured are measured, and nobody is decided about.
    """
    unmeasured = rater_services.studies_to_measure()
    for study_id in unmeasured:
        measure_raters.delay(study_id=study_id)
    judged = rater_services.studies_to_review(now=timezone.now())
    for study_id in judged:
        review_raters.delay(study_id=study_id)
    return len(unmeasured) + len(judged)


@app.task(ignore_result=True)
def review_raters(*, study_id: int) -> None:
    """Hold the raters of one study against its rules; safe to run twice."""
    rater_services.review_study(study_id=study_id, now=timezone.now())


@app.task(ignore_result=True)
def measure_raters(*, study_id: int) -> None:
    """Measure the raters of one study for the console; safe to run twice."""
    rater_services.measure_study(study_id=study_id, now=timezone.now())


@app.task(ignore_result=True)
def build_release(*, release_id: int) -> None:
    """Build one claimed release; safe to run twice."""
    release_services.run_release(release_id=release_id, clock=timezone.now)


@app.task(ignore_result=True)
def reclaim_lost_releases() -> int:
    """Beat tick: hand each release whose worker was lost to another."""
    lost = release_services.reclaim_lost_releases(now=timezone.now())
    for release_id in lost:
        build_release.delay(release_id=release_id)
    return len(lost)
