"""Every task names its queue, so slow work cannot starve quick work."""

from heart_site.celery import app


def own_tasks() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith("celery.")}


def test_every_task_has_an_explicit_route_and_every_route_a_task():
    assert own_tasks() == set(app.conf.task_routes)


def test_the_schedule_names_tasks_that_exist():
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= own_tasks()


def test_every_route_leads_to_a_queue_that_exists():
    queues = {queue.name for queue in app.conf.task_queues}
    assert {route["queue"] for route in app.conf.task_routes.values()} <= queues
