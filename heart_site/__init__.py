"""Composition root: settings, URLs, Celery application, schedule; nobody imports it."""

from heart_site.celery import app as celery_app

__all__ = ["celery_app"]
