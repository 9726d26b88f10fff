"""Celery entry points of access; each calls one service."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from access import outgoing, services


@shared_task(ignore_result=True)
def deliver_hooks() -> None:
    """Beat tick: send what waits for webhooks; safe to run twice."""
    services.deliver(clock=timezone.now, rules=outgoing_rules())


@shared_task(ignore_result=True)
def forget_idempotency_keys() -> None:
    """Beat tick: delete the answers that are kept no longer; safe to run twice."""
    services.forget_idempotency_keys(now=timezone.now())


def outgoing_rules() -> outgoing.Rules:
    """Return what the settings allow beyond public addresses by https."""
    return outgoing.Rules(
        allows_http=settings.HEART_HOOK_HTTP, trusted_hosts=tuple(settings.HEART_HOOK_HOSTS)
    )
