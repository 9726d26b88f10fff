"""Every task names its queue, none is lost with its worker, and no message waits for ever."""

import re
from pathlib import Path

from access.nudges import Work
from heart_site import schedule
from heart_site.celery import app
from heart_site.monitoring import heartbeats

ROOT = Path(__file__).parents[2]
APPS = ("access", "annotation", "completions", "ranking", "heart_site")


def own_tasks() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith("celery.")}


def swept() -> set[str]:
    return {entry["task"] for entry in app.conf.beat_schedule.values()}


def test_every_task_has_an_explicit_route_and_every_route_a_task():
    assert own_tasks() == set(app.conf.task_routes)


def test_the_schedule_and_nudges_name_tasks_that_exist():
    assert swept() | set(Work) <= own_tasks()


def test_every_route_leads_to_a_queue_of_the_workers_and_no_other_comes_about_by_itself():
    used = {route["queue"] for route in app.conf.task_routes.values()}

    assert used <= set(app.amqp.queues) == {"llm", "analysis", "maintenance", "outgoing"}
    assert not app.conf.task_create_missing_queues


def test_what_names_no_queue_does_not_wait_behind_calls_or_estimation():
    assert app.conf.task_default_queue == schedule.MAINTENANCE


def test_pages_hand_over_tasks_that_exist_and_load_none():
    code = [file.read_text("utf-8") for app_ in APPS for file in (ROOT / app_).rglob("*.py")]
    named = {name for text in code for name in re.findall(r'hand_over\(\s*"([^"]+)"', text)}

    assert len(named) >= 5
    assert named <= own_tasks()
    assert not any("app.tasks[" in text for text in code)  # a web process has none of them


def test_what_is_nudged_is_also_swept_up_or_brought_about_by_a_sweep():
    pulls = {route for route in Work if app.conf.task_routes[route]["queue"] == schedule.LLM}
    assert set(Work) - pulls <= swept()


def test_a_site_at_rest_sends_fewer_than_ten_messages_a_minute():
    assert sum(60 / entry["schedule"] for entry in app.conf.beat_schedule.values()) < 10


def test_no_message_outlives_the_next_of_its_kind_or_an_hour():
    for entry in app.conf.beat_schedule.values():
        assert 0 < entry["options"]["expires"] <= entry["schedule"]
    assert {app.tasks[name].expires for name in own_tasks()} == {schedule.HOUR_S}


def test_beat_wakes_often_enough_for_its_sign_of_life():
    assert app.conf.beat_max_loop_interval <= heartbeats.EVERY_S


def test_a_worker_that_dies_loses_no_message_and_none_hoards_what_others_could_do():
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
