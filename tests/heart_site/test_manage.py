"""`manage.py` finds the key of this machine, or says in one line what to do."""

import pytest

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
