"""Celery entry points of the completions app; each calls one service."""

from django.utils import timezone

from access.background import app
from access.nudges import Work, nudge
from completions.generation import services as generation_services
from completions.jobs import services as job_services
from completions.models import GenerationRun, LabellingRun
from completions.runs.services import running
from completions.strategies.services import labelling
from completions.writers.services import emailing, leasing


@app.task(ignore_result=True)
def release_expired_writing_leases() -> int:
    """Beat tick: give back the contexts of writing leases that ran out."""
    return leasing.release_expired_writing_leases(now=timezone.now())


@app.task(ignore_result=True)
def send_writer_mails() -> int:
    """Send the mails to writers that wait; safe to run twice."""
    n = emailing.send_writer_mails(now=timezone.now())
    if n:  # there may be more than one batch
        nudge(Work.SEND_WRITER_MAILS)
    return n


@app.task(ignore_result=True)
def look_after_runs() -> int:
    """Beat tick: end the runs that have no open call, and see to it that calls are made."""
    now = timezone.now()
    job_services.forget_unconfirmed_files(now=now)
    if job_services.are_jobs_waiting(now=now):
        nudge(Work.DO_JOBS)
    return running.look_after_runs(now=now)


@app.task(ignore_result=True)
def do_jobs() -> bool:
    """Do the job that waits longest, and have a worker look for another; safe to run twice."""
    did_one = job_services.do_next_job(clock=timezone.now)
    if did_one:
        nudge(Work.DO_JOBS)
    return did_one


@app.task(ignore_result=True)
def generate_completions() -> int:
    """Make waiting calls until none is left or its time is over; safe to run twice."""
    make = generation_services.generate_completions
    return running.pull(GenerationRun, make, clock=timezone.now)


@app.task(ignore_result=True)
def name_strategies() -> int:
    """Make waiting strategy calls until none is left or its time is over; safe to run twice."""
    return running.pull(LabellingRun, labelling.name_strategies, clock=timezone.now)
