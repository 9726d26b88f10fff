"""Celery entry points of the annotation app; each calls one service."""

from celery import shared_task
from django.utils import timezone

from annotation import services

NUDGE_EXPIRES_S = 10
"""Nudges that found every worker busy are dropped: the next tick sends another."""


@shared_task(ignore_result=True)
def release_expired_leases() -> None:
    """Beat tick: give back the slots of leases that ran out."""
    services.release_expired_leases(now=timezone.now())


@shared_task(ignore_result=True)
def finish_judge_runs() -> None:
    """Beat tick: end the runs of judges that have no open call; safe to run twice."""
    services.finish_judge_runs(now=timezone.now())


@shared_task(ignore_result=True)
def wake_judging() -> None:
    """Beat tick: start a pull if judge calls are waiting."""
    if services.is_judging_waiting(now=timezone.now()):
        ask_judges.apply_async(expires=NUDGE_EXPIRES_S)


@shared_task(ignore_result=True)
def ask_judges() -> None:
    """Make waiting judge calls until none is left or its time is over; safe to run twice."""
    services.ask_judges(clock=timezone.now)


@shared_task(ignore_result=True)
def finish_rationale_runs() -> None:
    """Beat tick: end the runs about rationales that have no open call; safe to run twice."""
    services.finish_rationale_runs(now=timezone.now())


@shared_task(ignore_result=True)
def wake_rationale_labelling() -> None:
    """Beat tick: start a pull if calls about rationales are waiting."""
    if services.is_rationale_labelling_waiting(now=timezone.now()):
        find_themes.apply_async(expires=NUDGE_EXPIRES_S)


@shared_task(ignore_result=True)
def find_themes() -> None:
    """Make waiting calls about rationales until none is left or its time is over; twice is safe."""
    services.find_themes(clock=timezone.now)


@shared_task(ignore_result=True)
def scan_rationales() -> None:
    """Beat tick: scan rationales for personal data, if not done yet; safe to run twice."""
    services.scan_rationales(clock=timezone.now)


@shared_task(ignore_result=True)
def enforce_retention() -> None:
    """Beat tick: delete what is held about people and whose time is over; safe to run twice."""
    services.enforce_retention(now=timezone.now())


@shared_task(ignore_result=True)
def send_report_alerts() -> None:
    """Beat tick: tell admins by e-mail of what raters reported; safe to run twice."""
    services.send_report_alerts(now=timezone.now())


@shared_task(ignore_result=True)
def announce_full_studies() -> None:
    """Beat tick: tell webhooks of studies of which every slot is judged; safe to run twice."""
    services.announce_full_studies(now=timezone.now())


@shared_task(ignore_result=True)
def keep_figures(*, kind: str, study_id: int) -> None:
    """Work out figures that a page waits for, and keep them; safe to run twice."""
    services.keep_figures(kind=kind, study_id=study_id, now=timezone.now())
