"""How the site starts: what its environment says, its broker and its address in one process.

Of the environment: the key of this machine that `manage.py` finds, and mail.
"""

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from kombu import Connection, Consumer, Queue

from annotation.models import JudgeCall, RationaleCall
from completions.choices import CallState
from completions.models import GenerationCall, StrategyCall
from completions.runs.services import running as run_services
from completions.writers import emails
from heart_site.embedded import broker as embedded_broker
from heart_site.embedded import process
from manage import find_key, main
from ranking.choices import FitState
from ranking.fits import services as ranking
from ranking.models import Fit
from tests.helpers.factories import NOW
from tests.helpers.factories_written_once import make_fit
from tests.helpers.processes import settings_with
from tests.helpers.rows import BUILDERS

FILE = "HEART_SECRET_KEY_FILE"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "var").mkdir()
    return tmp_path


@pytest.fixture
def kept(folder):
    file = folder / "var" / "secret-key"
    file.write_text("k", encoding="utf-8")
    return file


def environment_of(words, folder, **environment):
    """Return what the environment is once a command has looked for its key."""
    find_key(["manage.py", *words], environment, folder)
    return environment


@pytest.mark.parametrize("words", [["study", "show"], ["rank", "file.csv"]])
def test_takes_the_key_that_make_keeps(folder, kept, words):
    assert environment_of(words, folder) == {FILE: str(kept)}


@pytest.mark.parametrize("name", ["HEART_SECRET_KEY", FILE])
def test_leaves_a_key_that_is_set(folder, kept, name):
    assert environment_of(["check"], folder, **{name: "mine"}) == {name: "mine"}


@pytest.mark.parametrize("words", [["rank"], ["agreement"], ["release", "verify", "folder"]])
def test_commands_on_files_need_none(folder, words):
    environment = environment_of(words, folder)

    assert list(environment) == ["HEART_SECRET_KEY"]
    assert len(environment["HEART_SECRET_KEY"]) > 40


@pytest.mark.parametrize("words", [[], ["release", "build"], ["study", "rank"]])
def test_others_say_in_one_line_what_to_do(folder, words):
    with pytest.raises(SystemExit) as caught:
        environment_of(words, folder)

    assert "make setup" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ctrl_c_ends_a_command_in_one_line(monkeypatch, capsys):
    def interrupted(_words):
        raise KeyboardInterrupt

    monkeypatch.setattr("manage.execute_from_command_line", interrupted)

    with pytest.raises(SystemExit) as caught:
        main(["manage.py", "fits"])

    assert (caught.value.code, capsys.readouterr().err) == (130, "Stopped.\n")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: None, "The database is not of this version (no such table: "),
        (lambda file: file.write_bytes(b"no database" * 99), "The database cannot be used: file"),
        (lambda file: file.mkdir(), "The database cannot be used: unable to open database file"),
    ],
    ids=["without tables", "no database", "no file"],
)
def test_a_database_that_cannot_be_used_ends_a_command_in_one_line(tmp_path, spoil, said):
    spoil(tmp_path / "heart.sqlite3")
    words = [sys.executable, "manage.py", "release", "build", "--study", "demo", "--out", "x"]
    environment = os.environ | {"HEART_DATA_DIR": str(tmp_path), "HEART_SECRET_KEY": "k" * 50}
    environment.pop("DATABASE_URL", None)

    ended = subprocess.run(words, stderr=subprocess.PIPE, check=False, text=True, env=environment)

    assert (ended.returncode, ended.stderr.count("\n")) == (69, 1)
    assert ended.stderr.startswith(said)


def test_a_reader_who_has_read_enough_ends_a_command_in_silence(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("context_id,system_a,system_b,winner\nc,a,b,tie\n", encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)

    ended = subprocess.run(
        [sys.executable, "manage.py", "rank", str(path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )

    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


FULL = Path("/dev/full")
COMMANDS = [
    ["manage.py", "rank", "{file}"],
    ["manage.py", "rank", "{file}", "--json"],
    ["manage.py", "release", "verify", "{folder}"],
    ["-m", "ranking.release_check", "{folder}"],
]


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full: it is a device of Linux")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_answer_that_nobody_can_take_ends_with_a_code_of_its_own(tmp_path, command):
    path = tmp_path / "judgments.csv"
    path.write_text("context_id,system_a,system_b,winner\nc,a,b,tie\n", encoding="utf-8")

    with FULL.open("wb") as full:
        ended = subprocess.run(
            [sys.executable, *(word.format(file=path, folder=tmp_path) for word in command)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )

    assert ended.returncode == 74
    assert "Traceback" not in ended.stderr
    assert ended.stderr.endswith("The answer could not be written: No space left on device.\n")


def test_a_command_whose_streams_were_closed_ends_as_otherwise(tmp_path):
    for file, code in (("judgments.csv", 0), ("none.csv", 2)):
        path = tmp_path / "judgments.csv"
        path.write_text("context_id,system_a,system_b,winner\nc,a,b,tie\n", encoding="utf-8")
        words = shlex.join([sys.executable, "manage.py", "rank", str(tmp_path / file)])

        ended = subprocess.run(["sh", "-c", f"{words} >&- 2>&-"], check=False)

        assert ended.returncode == code


@pytest.mark.parametrize("words", [["backup", "--keep", "0"], ["restore", "/dev/null"]])
def test_what_a_command_of_backups_refuses_ends_it_as_others(words):
    with pytest.raises(CommandError) as refused:
        call_command(*words)

    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("query", "idle_s"), [("", 30), ("?keepalives_idle=5", 5)], ids=["as it is", "as said"]
)
def test_a_database_whose_host_is_gone_is_given_up_within_two_minutes(query, idle_s):
    address = f"postgres://u:p@127.0.0.1:5432/heart{query}"
    given = settings_with(DATABASE_URL=address)["DATABASES"]["default"]["OPTIONS"]

    assert given["keepalives_idle"] == idle_s
    assert idle_s + given["keepalives_interval"] * given["keepalives_count"] <= 60
    assert given["tcp_user_timeout"] <= 60_000
    assert given["connect_timeout"] == 5


def test_without_a_server_mails_are_printed_and_no_admin_is_written_to():
    found = settings_with()

    assert found["HEART_ADMINS"] == []
    assert found["EMAIL_BACKEND"] == "django.core.mail.backends.console.EmailBackend"


def test_mail_can_be_switched_off():
    assert settings_with(HEART_EMAIL_URL="dummymail://")["EMAIL_BACKEND"] == emails.NO_SERVER


@pytest.mark.parametrize(
    ("scheme", "tls", "ssl"),
    [("smtp+tls", True, False), ("smtp+ssl", False, True), ("smtp", False, False)],
)
def test_an_address_names_server_user_and_encryption(scheme, tls, ssl):
    url = f"{scheme}://user:p%40ss@mail.example.org:587"
    wanted = {
        "HEART_ADMINS": ["one@example.org", "two@example.org"],
        "HEART_EMAIL_FROM": "heart@example.org",
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": "mail.example.org",
        "EMAIL_PORT": 587,
        "EMAIL_HOST_USER": "user",
        "EMAIL_HOST_PASSWORD": "p@ss",
        "EMAIL_USE_TLS": tls,
        "EMAIL_USE_SSL": ssl,
    }

    found = settings_with(
        HEART_ADMINS="one@example.org,two@example.org",
        HEART_EMAIL_FROM="heart@example.org",
        HEART_EMAIL_URL=url,
    )

    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("DATABASE_URL", f"{one}s3cret@host/heart") for one in ("", "//u:", "mysql://u:")),
        ("DATABASE_URL", "postgres://u:s3/cret@host/heart"),
        ("HEART_EMAIL_URL", "mail.example.org"),
        ("HEART_EMAIL_URL", "smtp://u:s3/cret@host:587"),
        ("HEART_HTTPS", "enabled"),
        *(("HEART_LLM_CONCURRENCY", one) for one in ("", "0", "-1")),
        ("HEART_BOOTSTRAP_REPLICATES", "0"),
        ("HEART_RETENTION_CONTACT_MONTHS", "-1"),
        *(("HEART_REFIT_SECONDS", one) for one in ("0", "-5", "nan", "inf")),
        *(("HEART_BROKER_URL", f"{one}s3cret") for one in ("", "amqp://u:", "redis:", "redis//")),
        ("HEART_BROKER_URL", ""),
        ("HEART_BROKER_URL", "redis://u:s3/cret@host:port"),
        *(("HEART_SITE_URL", one) for one in ("", "heart.example.org", "https:///", "ftp://host")),
        ("HEART_OFFLINE_LLM_URL", "127.0.0.1:8899"),
        ("HEART_PROLIFIC_API_URL", ""),
        ("HEART_REFIT_SECONDS", "5 s"),
        ("HEART_LOG_LEVEL", "loud"),
        ("HEART_LOG_FORMAT", "xml"),
        ("HEART_SECOND_FACTOR", "on"),
    ],
)
def test_a_malformed_setting_is_named_and_what_it_says_is_not(name, value):
    with pytest.raises(ImproperlyConfigured) as caught:
        settings_with(**{name: value})

    said = f"{name} is missing or malformed: .env.example says what it may be"
    assert (str(caught.value), caught.value.__suppress_context__) == (said, True)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DATABASE_URL", "mysql://u:s3cret@host/heart", "DATABASE_URL is missing or malformed: "),
        ("HEART_LLM_LIMITS", "[1]", "HEART_LLM_LIMITS: the whole: "),
        ("HEART_LLM_LIMITS", "{", "HEART_LLM_LIMITS: not JSON "),
        ("HEART_DATA_DIR", "/dev/null/data", "HEART_DATA_DIR cannot be used: Not a directory."),
        (
            "DATABASE_URL",
            "sqlite:////dev/null/a/b",
            "DATABASE_URL cannot be used: Not a directory.",
        ),
    ],
)
def test_a_setting_that_cannot_be_used_ends_a_command_in_one_line(name, value, said):
    given = os.environ | {"DATABASE_URL": "", name: value}
    command = [sys.executable, "manage.py", "check"]
    ended = subprocess.run(command, stderr=subprocess.PIPE, check=False, text=True, env=given)

    assert (ended.returncode, ended.stderr.count("\n")) == (78, 1)
    assert ended.stderr.startswith(said)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("HEART_HTTPS", "On", True),
        ("HEART_HTTPS", "", False),
        ("HEART_REFIT_SECONDS", "1e3", 1000.0),
        ("HEART_LLM_LIMITS", " ", {}),
        *(("HEART_SITE_URL", f"https://{one}", f"https://{one}") for one in ("heart", "[::1]:1/")),
    ],
)
def test_a_setting_is_read_as_it_is_written(name, value, read):
    assert settings_with(**{name: value})[name] == read


def test_without_an_address_the_database_is_of_sqlite():
    assert settings_with(DATABASE_URL="")["DATABASES"]["default"]["ENGINE"].endswith("sqlite3")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["nothing", "a line break", "of Windows"])
def test_what_ends_a_file_is_no_part_of_what_it_says(tmp_path, end):
    for name, text in (("FROM", "heart@example.org"), ("URL", "smtp://mail.example.org:587")):
        (tmp_path / name).write_text(text + end, encoding="utf-8", newline="")

    found = settings_with(
        HEART_EMAIL_FROM_FILE=str(tmp_path / "FROM"), HEART_EMAIL_URL_FILE=str(tmp_path / "URL")
    )

    assert found["HEART_EMAIL_FROM"] == "heart@example.org"
    assert found["EMAIL_PORT"] == 587


@pytest.mark.parametrize("name", ["HEART_SECRET_KEY", "HEART_EVIDENCE_KEY"])
def test_a_key_that_sites_signed_with_stays_whole(tmp_path, monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    (tmp_path / "key").write_text("mine\n", encoding="utf-8")

    found = settings_with(**{f"{name}_FILE": str(tmp_path / "key")})

    assert found[name.replace("HEART_SECRET", "SECRET")] == "mine\n"


LONG_S = 30.0


@pytest.fixture
def heard():
    """A consumer on a connection of its own, and what it hears."""
    queue, taken = Queue("in-process-test"), []
    with Connection("memory://", transport="heart_site.embedded.broker:Transport") as broker:

        def take(body, message):
            message.ack()
            taken.append(body)

        with Consumer(broker, [queue], callbacks=[take]):
            yield broker, taken
        queue.bind(broker.default_channel).delete()


def publish(body):
    with Connection("memory://", transport="heart_site.embedded.broker:Transport") as broker:
        broker.Producer().publish(body, routing_key="in-process-test")


def test_what_came_before_is_heard_at_once(heard):
    broker, taken = heard
    publish(1)

    broker.drain_events(timeout=LONG_S)

    assert taken == [1]


def test_a_sleeping_consumer_is_woken(heard, monkeypatch):
    broker, taken = heard
    sleep, woken = embedded_broker.WOKEN.wait, []

    def sleep_while_it_comes(timeout):
        with ThreadPoolExecutor(1) as other:
            other.submit(publish, 2)
            woken.append(sleep(timeout))

    monkeypatch.setattr(embedded_broker.WOKEN, "wait", sleep_while_it_comes)
    with pytest.raises(TimeoutError):
        broker.drain_events(timeout=LONG_S)
    broker.drain_events(timeout=LONG_S)

    assert woken == [True]
    assert taken == [2]


def test_a_consumer_without_messages_sleeps_and_says_so(heard, monkeypatch):
    broker, taken = heard
    slept: list[float | None] = []
    monkeypatch.setattr(embedded_broker.WOKEN, "wait", slept.append)

    with pytest.raises(TimeoutError):
        broker.drain_events(timeout=LONG_S)

    assert slept == [LONG_S]
    assert taken == []


def test_the_site_is_where_its_web_server_is(settings):
    settings.HEART_SITE_URL = process.USUAL_ADDRESS

    with process.web(port=0) as (address, _serve):
        assert address == settings.HEART_SITE_URL


def test_a_site_that_says_where_it_is_is_believed(settings):
    settings.HEART_SITE_URL = "https://heart.example.org"

    with process.web(port=0):
        assert settings.HEART_SITE_URL == "https://heart.example.org"


def test_the_usual_address_is_the_default_of_the_settings(settings):
    assert settings.HEART_SITE_URL == process.USUAL_ADDRESS


CLAIMED = {"state": CallState.CLAIMED, "claimed_at": NOW, "attempts": 1}
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "permanent"}


@pytest.mark.django_db
@pytest.mark.parametrize("model", [GenerationCall, StrategyCall, JudgeCall, RationaleCall])
def test_claimed_calls_wait_again_and_ended_ones_do_not(model):
    claimed, failed = (BUILDERS[model.__name__](**state) for state in (CLAIMED, FAILED))

    assert run_services.forget_claims() == 1

    states = dict(model.objects.values_list("pk", "state"))
    assert states == {claimed.pk: CallState.PENDING, failed.pk: CallState.FAILED}


@pytest.mark.django_db
def test_a_fit_that_was_begun_is_dropped_and_a_done_one_kept():
    make_fit(claimed_at=NOW)
    done = make_fit(claimed_at=NOW, state=FitState.DONE, ended_at=NOW)

    assert ranking.forget_fit_claims() == 1
    assert Fit.objects.get() == done
