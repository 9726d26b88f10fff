"""The pieces of a release's files: ids, coarse times, names, checksums, the zip."""

import datetime as dt

import pytest

from ranking.choices import PeopleKind
from ranking.fits.people import PeopleKindName as PureKind
from ranking.released.files import identities
from ranking.released.files.identities import JUDGMENT, RATER, identity, names_in, renamed
from ranking.released.files.tables import BY_NAME
from ranking.released.http import zipped
from ranking.released.writing import line, read_sums, sums

SECRET, OTHER = "ab" * 32, "cd" * 32


def test_ids_are_those_of_the_secret_and_of_nothing_else():
    assert identity(SECRET, RATER, "r-1") == identity(SECRET, RATER, "r-1")
    different = {
        identity(secret, label, name)
        for secret in (SECRET, OTHER)
        for label in (RATER, JUDGMENT)
        for name in ("r-1", "r-2")
    }
    assert len(different) == 8


def test_times_are_days_in_utc_and_durations_steps_of_five_seconds():
    east = dt.timezone(dt.timedelta(hours=9))

    assert identities.day(dt.datetime(2026, 1, 5, 3, tzinfo=east)) == "2026-01-04"
    assert [identities.seconds(one) for one in (0.0, 12.6, 99_999.0)] == [0, 15, 3600]


def test_of_evidence_the_numbers_are_told_and_the_words_are_not():
    evidence = {"passed": 1, "of": 4, "who": "Bob", "parts": [{"share": 0.25}], "is_late": True}

    told = {"passed": 1, "of": 4, "parts.0.share": 0.25, "is_late": True}
    assert identities.numbers_in(evidence) == told


def test_names_are_replaced_in_texts_and_keys_as_whole_words():
    names = {"r-1": "x"}

    assert renamed({"r-1": ["of r-1.", "r-12", 3]}, names) == {"x": ["of x.", "r-12", 3]}
    assert names_in("one of r-1, r-12", {"r-1"}) == {"r-1"}
    assert names_in([{"r-1": 3}, ["r-12", None, "of\nr-2"]], {"r-1", "r-2"}) == {"r-1", "r-2"}


def test_lines_have_sorted_keys_and_no_number_that_is_none():
    assert line({"b": 1, "a": "é"}) == '{"a":"é","b":1}'
    with pytest.raises(ValueError, match="JSON"):
        line({"a": float("nan")})


def test_checksums_are_read_back_and_a_name_that_comes_twice_is_refused(tmp_path):
    (tmp_path / "a").write_text("a")

    text = sums(tmp_path)

    assert list(read_sums(text)) == ["a"]
    with pytest.raises(ValueError, match="line 2"):
        read_sums(text * 2)


def test_the_zip_of_a_folder_is_the_same_whenever_its_files_were_written(tmp_path):
    packed = []
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "deep").mkdir(parents=True)
        for path in ("deep/b.txt", "a.txt") if name == "one" else ("a.txt", "deep/b.txt"):
            (folder / path).write_text(path)
        packed.append(b"".join(zipped(folder, "release")))

    assert packed[0] == packed[1]


def test_a_row_with_a_field_too_many_too_few_or_of_another_kind_is_told():
    row = {"comparison": "p1", "kind": "GOLD", "dimension": "", "is_active": 1, "n_seen": True}

    problems = BY_NAME["checks"].problems(row | {"extra": 1, "expected": None})

    assert problems == [
        "n_passed is missing",
        "extra is not known",
        "is_active is no flag",
        "n_seen is no integer",
    ]


def test_the_kinds_of_people_are_the_same_with_and_without_the_framework():
    assert [one.value for one in PureKind] == list(PeopleKind.values)
