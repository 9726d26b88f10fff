"""Tasks have queues and end in time; alerts, runbooks and dashboard speak of what is told."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import yaml
from django.urls import reverse
from django.urls.exceptions import NoReverseMatch

from access.nudges import Work
from completions.choices import PauseReason, RunState
from heart_site import schedule
from heart_site.celery import app
from heart_site.monitoring import heartbeats, metrics
from heart_site.monitoring.metrics import seconds_of_requests
from tests.conftest import missing

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


RULES = ROOT / "deploy/prometheus/alerts.yml"
GROUPS = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}
DASHBOARD = json.loads((ROOT / "deploy/grafana/heart.json").read_text(encoding="utf-8"))
PANELS = {
    f"{panel['title']}, {target['refId']}": target
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}
SCRAPE = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
RUNBOOKS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^#|\Z)", RUNBOOKS, re.MULTILINE | re.DOTALL))
LABELS = {
    f"heart_{name}": {*gauge.labels} for name, gauge in (metrics.GAUGES | heartbeats.GAUGES).items()
}
COUNTED = set(seconds_of_requests._labelnames)
LABELS |= {f"heart_request_seconds_{part}": COUNTED for part in ("count", "sum")}
LABELS |= {"heart_request_seconds_bucket": COUNTED | {"le"}, "up": set()}
OF_PROMETHEUS = {"job", "instance"}
VALUES = {
    "kind": {*metrics.CALLS, *metrics.RUNS, "mails"},
    "state": {"pending", "claimed", *(state.lower() for state in RunState.values)},
    "reason": {reason.lower() for reason in PauseReason.values},
    "of": {*heartbeats.NAMES, "beat", "rater", "writer", "spent", "reserved"},
    "queue": set(schedule.QUEUES),
    "job": {job["job_name"] for job in SCRAPE["scrape_configs"]},
}
NAME = re.compile(r"\b(heart_\w+|up)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
EXPRESSIONS = {
    **{name: rule["expr"] for name, rule in ALERTS.items()},
    **{title: target["expr"] for title, target in PANELS.items()},
}


def is_a_page(name):
    """Whether the site has a page of that name; what it wants in its address is another matter."""
    for words in (
        {},
        {"study": "s"},
        {"study": "s", "token": "0" * 8 + "-0000" * 3 + "-" + "0" * 12},
    ):
        try:
            reverse(name, kwargs=words)
        except NoReverseMatch:
            continue
        return True
    return False


class TestExpressions:
    def test_name_metrics_that_there_are(self, subtests):
        for where, text in EXPRESSIONS.items():
            with subtests.test(where):
                named = {name for name, _ in NAME.findall(text)}

                assert named
                assert named <= set(LABELS)

    def test_choose_by_labels_and_values_that_there_are(self, subtests):
        for where, metric, label, value in choices():
            with subtests.test(where):
                assert label in LABELS[metric] | OF_PROMETHEUS
                if label == "page":
                    assert all(map(is_a_page, value.split("|")))
                elif label != "status":
                    assert set(value.split("|")) <= VALUES[label]

    def test_group_by_labels_that_their_metrics_have(self, subtests):
        for where, text in EXPRESSIONS.items():
            with subtests.test(where):
                has = set.union(*(LABELS[name] for name, _ in NAME.findall(text)))
                grouped = re.findall(r"\b(?:by|on) \(([^)]*)\)", text)

                named = {label.strip() for group in grouped for label in group.split(",")}
                assert named <= has | OF_PROMETHEUS


def choices():
    """Yield where a metric is chosen by a label and its value."""
    for where, text in EXPRESSIONS.items():
        for metric, chosen in NAME.findall(text):
            for label, value in MATCHER.findall(chosen):
                yield where, metric, label, value


class TestAlerts:
    def test_lead_to_their_section_which_says_four_things(self, subtests):
        for name, alert in ALERTS.items():
            with subtests.test(name):
                assert alert["annotations"]["runbook"] == f"docs/operations.md#{name.lower()}"
                said = re.findall(r"^\*\*(\w+):\*\* \S", SECTIONS[name], re.MULTILINE)
                assert said == ["Means", "Look", "Do", "Over"]

    def test_say_how_bad_and_what(self, subtests):
        for name, alert in ALERTS.items():
            with subtests.test(name):
                assert alert["labels"]["severity"] in {"page", "ticket"}
                labels = re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"])
                has = {label for one, _ in NAME.findall(alert["expr"]) for label in LABELS[one]}
                assert set(labels) <= has | OF_PROMETHEUS


def test_the_names_of_lines_are_labels_of_theirs(subtests):
    for title, panel in PANELS.items():
        with subtests.test(title):
            named = set(re.findall(r"\{\{(\w+)\}\}", panel["legendFormat"]))
            grouped = re.findall(r"\bby \(([^)]*)\)", panel["expr"])
            assert named <= {label.strip() for group in grouped for label in group.split(",")}


def test_no_section_is_left_over_from_an_alert_that_is_gone():
    assert {name for name in SECTIONS if name.startswith("Heart")} == set(ALERTS)


def test_every_number_of_the_site_is_on_the_dashboard():
    drawn = {name for target in PANELS.values() for name, _ in NAME.findall(target["expr"])}
    assert {f"heart_{name}" for name in metrics.GAUGES | heartbeats.GAUGES} <= drawn


def test_every_metric_is_explained():
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(heart_\w+)` \|", page, re.MULTILINE)) == {
        "heart_request_seconds",
        *(f"heart_{name}" for name in metrics.GAUGES | heartbeats.GAUGES),
    }


def test_the_scrape_loads_the_alerts():
    assert SCRAPE["rule_files"] == [RULES.name]


def test_prometheus_takes_the_rules():
    if shutil.which("promtool") is None:
        missing("promtool", "Debian: apt-get install prometheus")
    subprocess.run(["promtool", "check", "rules", RULES], check=True, capture_output=True)
