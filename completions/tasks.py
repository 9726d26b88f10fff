"""Celery entry points of the completions app; each calls one service."""

from celery import shared_task
from django.utils import timezone

from completions import services

NUDGE_EXPIRES_S = 10
"""Nudges that found every worker busy are dropped: the next tick sends another."""


@shared_task(ignore_result=True)
def release_expired_writing_leases() -> None:
    """Beat tick: give back the contexts of writing leases that ran out."""
    services.release_expired_writing_leases(now=timezone.now())


@shared_task(ignore_result=True)
def send_writer_mails() -> None:
    """Beat tick: send the mails to writers that wait; safe to run twice."""
    services.send_writer_mails(now=timezone.now())


@shared_task(ignore_result=True)
def finish_runs() -> None:
    """Beat tick: end the runs that have no open call; safe to run twice."""
    services.finish_all_runs(now=timezone.now())


@shared_task(ignore_result=True)
def wake_generation() -> None:
    """Beat tick: start a pull if generation calls are waiting."""
    if services.is_generation_waiting(now=timezone.now()):
        generate_completions.apply_async(expires=NUDGE_EXPIRES_S)


@shared_task(ignore_result=True)
def generate_completions() -> None:
    """Make waiting calls until none is left or its time is over; safe to run twice."""
    services.generate_completions(clock=timezone.now)


@shared_task(ignore_result=True)
def wake_labelling() -> None:
    """Beat tick: start a pull if strategy calls are waiting."""
    if services.is_labelling_waiting(now=timezone.now()):
        name_strategies.apply_async(expires=NUDGE_EXPIRES_S)


@shared_task(ignore_result=True)
def name_strategies() -> None:
    """Make waiting strategy calls until none is left or its time is over; safe to run twice."""
    services.name_strategies(clock=timezone.now)
