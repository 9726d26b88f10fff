"""The one command of a newcomer: headless, killed and resumed, on a taken port, on bad input."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from completions.dialogues.demo import DIALOGUES
from heart_site.demo import study as demo_study
from tests.helpers.datasets import shared_file, write_array
from tests.helpers.factories import NOW
from tests.helpers.processes import LOOK_S, PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("completions_completion", "annotation_comparison", "annotation_judgment")
ONE_SPEAKER = (
    b'[{"emotion_type": "fear", "problem_type": "job", "situation": "s", "dialog": '
    b'[{"speaker": "seeker", "annotation": {}, "content": "Hello there"}]}]'
)
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a command of the site on an empty folder of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HEART_SECRET_KEY": "only-for-tests",
        "HEART_DATA_DIR": str(tmp_path),
        "HEART_BOOTSTRAP_REPLICATES": "50",
        "HEART_REFIT_SECONDS": "1",
        "HEART_LOG_LEVEL": "WARNING",
    }
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def counts(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "heart.sqlite3")) as database:
        return {
            table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for table in TABLES
        }


def wait_for_a_judgment(folder: Path, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        with suppress(sqlite3.OperationalError):  # not migrated yet
            if counts(folder)["annotation_judgment"]:
                return
        time.sleep(LOOK_S)
    pytest.fail(f"the demo ended early: {process.communicate()}")


def test_a_killed_demo_resumes_and_duplicates_nothing(start, tmp_path):
    killed = start("demo", "--check")
    wait_for_a_judgment(tmp_path, killed)
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    resumed = start("demo", "--check")
    out, err = resumed.communicate()

    assert resumed.returncode == 0, err
    assert "simulated" in out.splitlines()[0]
    assert re.search(r"^ +1\S* +Simulated (Alder|Birch|Cedar) ", out, re.MULTILINE)
    # 24 contexts x 4 systems, 6 pairs, 6 judgments; 4 hostile ones x 3 systems, 3 pairs, 2; and
    # 29 planted pairs of two messages each.
    assert counts(tmp_path) == {
        "completions_completion": 108 + 58,
        "annotation_comparison": 156 + 29,
        "annotation_judgment": 152,
    }


def test_a_real_file_ends_in_a_leaderboard(start, tmp_path, migrated):
    migrated(tmp_path)
    process = start("demo", "--check", "--dialogues", shared_file("esconv/ESConv.json"))

    out, err = process.communicate()

    assert process.returncode == 0, err
    assert "188 judgments on 30 source dialogues" in out


def test_a_bad_file_is_refused_with_its_position_and_nothing_is_written(start, tmp_path, migrated):
    migrated(tmp_path)
    file = tmp_path / "dialogues.json"
    file.write_bytes(b"[{")
    process = start("demo", "--check", "--dialogues", file)

    _, err = process.communicate()

    assert process.returncode == 2
    assert "line 1" in err
    assert "Traceback" not in err
    with closing(sqlite3.connect(tmp_path / "heart.sqlite3")) as database:
        assert database.execute("SELECT count(*) FROM completions_dataset").fetchone() == (0,)


@pytest.mark.django_db
def test_bad_records_of_a_file_are_skipped_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_study, "CONTEXTS_OF_A_FILE", 24)
    records = json.loads(DIALOGUES.read_text(encoding="utf-8"))
    file = write_array(tmp_path / "talks.json", [*records, *json.loads(ONE_SPEAKER)])
    told: list[str] = []

    study = demo_study.prepare(file, now=NOW, say=told.append)

    assert study.dataset.contexts.count() == 24
    (line,) = told
    assert line.startswith(f"{file}: 1 bad records skipped, first dialogue 13: both a seeker")


def test_a_taken_port_moves_the_site_to_the_next_one_and_ctrl_c_ends_it(start, tmp_path, migrated):
    migrated(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("serve", "--port", str(port))
        lines = [process.stdout.readline(), process.stdout.readline()]

        assert f"Port {port} is taken" in lines[0]
        address = lines[1].split()[3]
        with urllib.request.urlopen(f"{address}readyz") as answer:
            assert answer.status == 200

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert out.endswith("Stopped.\n")
