"""Composition root: settings, URLs, Celery application, schedule; nobody imports it."""

import gc

from heart_site.celery import app as celery_app

# What is loaded stays: to look through all of it for rubbish again and again, while more is loaded,
# took a fifth of each start.
gc.set_threshold(50_000, 20, 20)

__all__ = ["celery_app"]
