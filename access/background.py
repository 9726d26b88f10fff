"""The Celery application; whoever defines a task or sends one takes it from here.

Its queues and its schedule are in heart_site.schedule, what a worker does besides in
heart_site.celery: a process that needs no task, such as `manage.py rank`, does not load Celery.
"""

from celery import Celery

app = Celery("heart")
app.config_from_object("django.conf:settings", namespace="CELERY")

EXPIRES_S = 60 * 60


def hand_over(task: str, **arguments: object) -> None:
    """Hand a task to the workers by its name: a web process knows none of them.

    What no worker has begun within an hour expires; each page offers to ask again.
    """
    app.send_task(task, kwargs=arguments, expires=EXPIRES_S, ignore_result=True)
