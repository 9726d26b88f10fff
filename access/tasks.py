"""Celery entry points of access; each calls one service.

A task that beat or a nudge begins says how much it did: where that is nothing, its log line is
for debugging alone.
"""

from django.utils import timezone

from access.api import stored_answers
from access.background import app
from access.nudges import KEPT_S, SOON_S, Work, nudge
from access.webhooks import services as hook_services


@app.task(ignore_result=True)
def deliver_hooks() -> int:
    """Send what waits for webhooks, and come again when there is more; safe to run twice."""
    n = hook_services.deliver(clock=timezone.now, rules=hook_services.outgoing_rules())
    wait_s = hook_services.seconds_to_next(now=timezone.now())
    if wait_s is not None and wait_s <= KEPT_S:  # what is due later is left to the sweep
        nudge(Work.DELIVER_HOOKS, within_s=max(wait_s, SOON_S))
    return n


@app.task(ignore_result=True)
def forget_idempotency_keys() -> int:
    """Beat tick: delete the answers that are kept no longer; safe to run twice."""
    return stored_answers.forget_idempotency_keys(now=timezone.now())
