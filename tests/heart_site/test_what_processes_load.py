"""What each kind of process has loaded: every one of them pays for it in seconds and memory.

A process runs a script and tells what it has loaded by then (ADR-0043).
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from heart_site import schedule
from manage import OF_FILES

ARRAYS = {"numpy", "scipy"}
SLOW_NUMERICS = {"scipy.stats", "scipy.optimize"}
TABLES = {"pandas", "pyarrow", "statsmodels", "sklearn", "openskill"}
DRAWING = {"matplotlib"}
MODELS = {"litellm", "openai"}
PAGES = {"heart_site.urls", "rest_framework.views", "annotation.session.views"}
KEYS = {"fido2", "allauth.mfa.webauthn.internal.auth"}
ALL = ARRAYS | SLOW_NUMERICS | TABLES | DRAWING | MODELS

TELL = "\nimport json, sys; print(json.dumps(list(sys.modules)))"
SET_UP = "import django; django.setup()\n"
MANAGE = """
import contextlib, os
from manage import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(open(os.devnull, "w")):
    main(["manage.py", *{words}])
"""
WITH_TABLES = f"""
{SET_UP}
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
settings.MIGRATION_MODULES = dict.fromkeys(one.label for one in apps.get_app_configs())
call_command("migrate", run_syncdb=True, verbosity=0, skip_checks=True)
"""
VISITS = f"""
{WITH_TABLES}
from django.test import Client
from django.urls import reverse
from ranking.choices import AnalysisKind, FitState
from tests.helpers.factories import NOW
from tests.helpers.factories_written_once import make_analysis, make_member
from tests.helpers.rated import make_findings
from tests.helpers.rated import make_rated_fit
from tests.helpers.visits import enrol, open_study, url
client, study = Client(), open_study()
enrol(client, study)
fit = make_rated_fit(study=study, n_judgments=100, n_units=10)
done = {{"state": FitState.DONE, "ended_at": NOW, "result": make_findings().as_json()}}
make_analysis(fit=fit, kind=AnalysisKind.RATERS, **done)
addresses = [reverse("home"), url(study, "how"), url(study, "judge")]
addresses += [
    reverse("ranking:leaderboard", args=[study.slug]),
    reverse("ranking:fit", args=[study.slug, fit.key]),
    reverse("ranking:ratings_csv", args=[study.slug, fit.key]),
    reverse("account_login"),
]
for address in addresses:
    assert client.get(address).status_code == 200, address
shown = reverse("ranking:analysis", args=[study.slug, fit.key, "raters"])
assert b"/matrix.svg" in client.get(shown).content
client.force_login(make_member())
for name in ("study", "checks", "judges", "reports", "personal_data"):
    address = reverse(f"console:{{name}}", args=[study.slug])
    assert client.get(address).status_code == 200, address
assert client.get(reverse("console:overview")).status_code == 200
"""
WORKER = """
import os
os.environ.pop("CELERY_SKIP_CHECKS", None)
from heart_site import schedule
from heart_site.celery import app
app.loader.import_default_modules()
assert set(schedule.ROUTES) <= set(app.tasks)
"""
TICKS = f"""
{WORKER}
{WITH_TABLES}
ticks = {{one["task"] for one in settings.CELERY_BEAT_SCHEDULE.values()}}
for name in sorted(ticks):
    if schedule.ROUTES[name]["queue"] == "{{queue}}":
        app.tasks[name].apply(throw=True)
"""
BEAT = """
from heart_site.celery import app
beat = app.Beat(schedule="{schedule}", quiet=True)
beat.init_loader()
assert beat.Service(app, scheduler_cls=app.conf.beat_scheduler, schedule_filename="{schedule}")
"""


@dataclass(frozen=True)
class Process:
    """What runs, and what must not be loaded by then; ``shows`` is, as a sign that it did run."""

    code: str
    without: frozenset[str]
    shows: str


def process(code: str, *without: set[str], shows: str) -> Process:
    return Process(code, frozenset().union(*without), shows)


def ticks(queue: str) -> str:
    return TICKS.replace("{queue}", queue)


PROCESSES = {
    "manage.py check": process(
        MANAGE.replace("{words}", '["check"]'), ALL, KEYS, {"redis"}, shows="heart_site.urls"
    ),
    **{
        f"manage.py {command} --help": process(
            MANAGE.replace("{words}", f'["{command}", "--help"]'),
            *(ALL, PAGES, KEYS, {"celery", "pydantic", "redis", "psycopg", "requests"}),
            {"annotation.models", "django.db.models"},
            shows=f"ranking.management.commands.{command}",
        )
        for command in OF_FILES
    },
    "a web process after pages": process(VISITS, ALL, {"redis"}, shows="ranking.results.pages"),
    "a worker that has done nothing": process(WORKER, ALL, PAGES, KEYS, shows="ranking.tasks"),
    **{
        f"a worker of {queue} after its ticks": process(
            ticks(queue), *without, shows="ranking.tasks"
        )
        for queue, without in zip(
            schedule.QUEUES,
            (
                (SLOW_NUMERICS, TABLES, DRAWING, MODELS, PAGES),
                (ALL, PAGES),
                (SLOW_NUMERICS, TABLES, DRAWING, MODELS, PAGES),
                (ALL, PAGES),
            ),
            strict=True,
        )
    },
    "beat": process(BEAT, ALL, PAGES, KEYS, shows="celery.beat"),
    "the estimators of ratings": process(
        "import ranking.numerics.bradley_terry, ranking.numerics.bootstrap\n"
        "import ranking.numerics.elo, ranking.numerics.intervals, ranking.numerics.strength\n"
        "import ranking.numerics.simultaneous",
        *(SLOW_NUMERICS, TABLES, {"django", "celery"}),
        shows="numpy",
    ),
    "figures before one is drawn": process(
        "import ranking.figures", ALL, {"django"}, shows="ranking.figures"
    ),
    "a writer of Parquet": process(
        f"{SET_UP}import pyarrow as pa\n"
        "from ranking.exports.arrays import arrow_array\n"
        "pa.RecordBatch.from_arrays([arrow_array(['x', None], pa.string())], names=['x'])\n"
        "from pyarrow import parquet",
        {"pandas"},
        shows="pyarrow",
    ),
}


FIRST = {"manage.py check", "a web process after pages", "a worker that has done nothing"}
"""What an import at the top of some module changes most often; the others are at full size."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in FIRST else pytest.mark.full) for one in PROCESSES]
)
def test_loads_only_what_it_needs(name, tmp_path):
    one = PROCESSES[name]

    told = said_by(
        one.code.replace("{schedule}", str(tmp_path / "beat")) + TELL,
        DJANGO_SETTINGS_MODULE="heart_site.settings",
        DATABASE_URL="sqlite://:memory:",
    )

    loaded = set(json.loads(told))
    assert one.shows in loaded
    assert sorted(loaded & one.without) == []


def said_by(code: str, **variables: str) -> str:
    """Run code in a process of its own; return what it prints last."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()[-1]


@pytest.mark.parametrize("expression", ["names.hand.wave()", "names.wave()"])
def test_a_package_of_names_has_its_modules_too(expression, tmp_path):
    """Whatever else was loaded before: a test once found a module only where another had run."""
    package = tmp_path / "names"
    package.mkdir()
    package.joinpath("hand.py").write_text("def wave() -> str:\n    return 'hello'\n")
    package.joinpath("__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from access.later import names_of\n"
        "if TYPE_CHECKING:\n"
        "    from names.hand import wave\n"
        "else:\n"
        "    __getattr__ = names_of(__name__)\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])

    assert said_by(f"import names; print({expression})", PYTHONPATH=path) == "hello"
