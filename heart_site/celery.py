"""The Celery application; queues and the periodic schedule are in heart_site.schedule."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
# The system checks load every page, some 50 MB in each worker; migrating runs them as well.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")
# The numerics share their work out among threads of their own; BLAS's on top slow both down.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
app = Celery("heart")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
