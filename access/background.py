"""The Celery application; whoever defines a task or sends one takes it from here.

Its queues and its schedule are in heart_site.schedule, what a worker does besides in
heart_site.celery: a process that needs no task, such as `manage.py rank`, does not load Celery.
"""

from celery import Celery

app = Celery("heart")
app.config_from_object("django.conf:settings", namespace="CELERY")


def hand_over(task: str, **arguments: object) -> None:
    """Hand a task to the workers by its name: a web process knows none of them.

    It expires as every task does that names no time of its own; each page offers to ask again.
    """
    expires = app.conf.task_annotations["*"]["expires"]
    app.send_task(task, kwargs=arguments, expires=expires, ignore_result=True)
