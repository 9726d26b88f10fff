"""Celery entry points of the annotation app; each calls one service."""

from django.utils import timezone

from access.background import app
from access.nudges import Work, nudge
from annotation.judges.services import judging
from annotation.judging.services import leasing
from annotation.models import JudgeRun, RationaleRun
from annotation.quality.services import reporting
from annotation.quality.services.reporting import ALERT_WITHIN_S
from annotation.raters.services import broken_links
from annotation.rationales.services import labelling, scanning
from annotation.retention import services as retention_services
from annotation.studies import stored_figures
from annotation.studies.services import states
from completions.runs.services import running as run_services


@app.task(ignore_result=True)
def release_expired_leases() -> int:
    """Beat tick: give back the slots of leases that ran out."""
    return leasing.release_expired_leases(now=timezone.now())


@app.task(ignore_result=True)
def ask_judges() -> int:
    """Make waiting judge calls until none is left or its time is over; safe to run twice."""
    return run_services.pull(JudgeRun, judging.ask_judges, clock=timezone.now)


@app.task(ignore_result=True)
def find_themes() -> int:
    """Make waiting calls about rationales until none is left or its time is over; twice is safe."""
    return run_services.pull(RationaleRun, labelling.find_themes, clock=timezone.now)


@app.task(ignore_result=True)
def scan_rationales() -> int:
    """Beat tick: scan rationales for personal data, if not done yet; safe to run twice."""
    return scanning.scan_rationales(clock=timezone.now)


@app.task(ignore_result=True)
def enforce_retention() -> int:
    """Beat tick: delete what is held about people and whose time is over; safe to run twice."""
    return len(retention_services.enforce_retention(now=timezone.now()))


@app.task(ignore_result=True)
def send_report_alerts() -> int:
    """Tell admins by e-mail of what raters reported; safe to run twice."""
    n = reporting.send_report_alerts(now=timezone.now())
    if n:  # there may be more than one message takes
        nudge(Work.SEND_REPORT_ALERTS, within_s=ALERT_WITHIN_S)
    return n


@app.task(ignore_result=True)
def send_arrival_alerts() -> int:
    """Beat tick: tell admins of visits by broken links, once a day; safe to run twice."""
    return broken_links.send_arrival_alerts(now=timezone.now())


@app.task(ignore_result=True)
def announce_full_studies() -> int:
    """Beat tick: tell webhooks of studies of which every slot is judged; safe to run twice."""
    return states.announce_full_studies(now=timezone.now())


@app.task(ignore_result=True)
def keep_figures(*, kind: str, study_id: int) -> None:
    """Work out figures that a page waits for, and keep them; safe to run twice."""
    stored_figures.keep_figures(kind=kind, study_id=study_id, now=timezone.now())
