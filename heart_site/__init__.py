"""Composition root: settings, URLs, Celery application, schedule; nobody imports it."""

import gc
import os

# What is loaded stays: to look through all of it for rubbish again and again, while more is loaded,
# took a fifth of each start.
gc.set_threshold(50_000, 20, 20)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
# The numerics share their work out among threads of their own; BLAS's on top slow both down.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
