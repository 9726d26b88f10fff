"""The Celery application; whoever defines a task or sends one takes it from here.

Its queues and its schedule are in heart_site.schedule, what a worker does besides in
heart_site.celery: a process that needs no task, such as `manage.py rank`, does not load Celery.
"""

from celery import Celery

app = Celery("heart")
app.config_from_object("django.conf:settings", namespace="CELERY")
