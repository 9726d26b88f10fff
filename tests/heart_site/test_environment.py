"""What the environment says: the key of this machine that `manage.py` finds, and of mail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from completions.writers import emails
from manage import find_key

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


@pytest.mark.parametrize("words", [["study", "show"], ["rank", "file.csv"]])
def test_takes_the_key_that_make_keeps(folder, kept, words):
    environment: dict[str, str] = {}

    find_key(["manage.py", *words], environment, folder)

    assert environment == {FILE: str(kept)}


@pytest.mark.parametrize("name", ["HEART_SECRET_KEY", FILE])
def test_leaves_a_key_that_is_set(folder, kept, name):
    environment = {name: "mine"}

    find_key(["manage.py", "check"], environment, folder)

    assert environment == {name: "mine"}


@pytest.mark.parametrize("words", [["rank"], ["agreement"], ["release", "verify", "folder"]])
def test_commands_on_files_need_none(folder, words):
    environment: dict[str, str] = {}

    find_key(["manage.py", *words], environment, folder)

    assert len(environment.pop("HEART_SECRET_KEY")) > 40
    assert environment == {}


@pytest.mark.parametrize("words", [[], ["release", "build"], ["study", "rank"]])
def test_others_say_in_one_line_what_to_do(folder, words):
    with pytest.raises(SystemExit) as caught:
        find_key(["manage.py", *words], {}, folder)

    assert "make setup" in str(caught.value)
    assert "\n" not in str(caught.value)


ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "HEART_ADMINS",
    "HEART_EMAIL_FROM",
    "EMAIL_BACKEND",
    "EMAIL_HOST",
    "EMAIL_PORT",
    "EMAIL_HOST_USER",
    "EMAIL_HOST_PASSWORD",
    "EMAIL_USE_TLS",
    "EMAIL_USE_SSL",
)
PRINT = """
import json, sys
from heart_site import settings
print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]}))
"""


def settings_with(folder, names=NAMES, **environment):
    """Return these settings, of mail unless told, as a process with this environment has them."""
    printed = subprocess.run(
        [sys.executable, "-c", PRINT, *names],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "HEART_SECRET_KEY": "x",
            "HEART_DATA_DIR": str(folder),
        }
        | environment,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return json.loads(printed)


def test_without_a_server_mails_are_printed_and_no_admin_is_written_to(tmp_path):
    found = settings_with(tmp_path)

    assert found["HEART_ADMINS"] == []
    assert found["EMAIL_BACKEND"] == "django.core.mail.backends.console.EmailBackend"


def test_mail_can_be_switched_off(tmp_path):
    found = settings_with(tmp_path, HEART_EMAIL_URL="dummymail://")

    assert found["EMAIL_BACKEND"] == emails.NO_SERVER


@pytest.mark.parametrize(
    ("scheme", "tls", "ssl"),
    [("smtp+tls", True, False), ("smtp+ssl", False, True), ("smtp", False, False)],
)
def test_an_address_names_server_user_and_encryption(tmp_path, scheme, tls, ssl):
    found = settings_with(
        tmp_path,
        HEART_ADMINS="one@example.org,two@example.org",
        HEART_EMAIL_URL=f"{scheme}://user:p%40ss@mail.example.org:587",
        HEART_EMAIL_FROM="heart@example.org",
    )

    assert found == {
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


@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["nothing", "a line break", "of Windows"])
def test_what_ends_a_file_is_no_part_of_what_it_says(tmp_path, end):
    for name, text in (("FROM", "heart@example.org"), ("URL", "smtp://mail.example.org:587")):
        (tmp_path / name).write_text(text + end, encoding="utf-8", newline="")

    found = settings_with(
        tmp_path,
        HEART_EMAIL_FROM_FILE=str(tmp_path / "FROM"),
        HEART_EMAIL_URL_FILE=str(tmp_path / "URL"),
    )

    assert found["HEART_EMAIL_FROM"] == "heart@example.org"
    assert found["EMAIL_PORT"] == 587


@pytest.mark.parametrize("name", ["HEART_SECRET_KEY", "HEART_EVIDENCE_KEY"])
def test_a_key_that_sites_signed_with_stays_whole(tmp_path, name):
    (tmp_path / "key").write_text("mine\n", encoding="utf-8")

    found = settings_with(
        tmp_path,
        names=[name.replace("HEART_SECRET", "SECRET")],
        **{f"{name}_FILE": tmp_path / "key"},
    )

    assert list(found.values()) == ["mine\n"]
