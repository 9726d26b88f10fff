"""The pieces of a release's files, from k-anonymous attributes to the zip, and their bytes.

The same state gives the same bytes in another process, place, zone, locale and seed.
"""

import datetime as dt
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from ranking.choices import PeopleKind
from ranking.fits.people import PeopleKindName as PureKind
from ranking.released import identities
from ranking.released.http import zipped
from ranking.released.identities import JUDGMENT, RATER, coarsened, identity, names_in, renamed
from ranking.released.tables import BY_NAME
from ranking.released.writing import files_of, line, read_sums, sums
from ranking.report import services
from tests.helpers.released import START, build, make_study_to_release

SECRET, OTHER = "ab" * 32, "cd" * 32
ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = {
    "TZ": "Pacific/Kiritimati",  # where it is tomorrow already
    "PYTHONHASHSEED": "4711",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",  # files that name no encoding are ASCII
    "HEART_SECRET_KEY": "of-another-machine",
    "OPENBLAS_NUM_THREADS": "1",
}


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
        packed.append(b"".join(zipped(folder, files_of(folder), "release")))

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


VALUES = st.lists(st.sampled_from(["x", "y", "z", "other", ""]), max_size=30)
KS = st.integers(1, 6)


@given(values=VALUES, k=KS)
def test_attributes_are_of_k_people_or_left_out_and_only_become_other(values, k):
    found = coarsened(values, k)

    if found is not None:
        assert all(n >= k for n in Counter(found).values())
        assert all(new in {old, "other"} for old, new in zip(values, found, strict=True))


@given(values=VALUES, k=KS)
def test_attributes_of_k_people_are_not_changed(values, k):
    found = coarsened(values, k)

    assert (found == tuple(values)) is all(n >= k for n in Counter(values).values())


@given(values=VALUES, k=KS, order=st.randoms())
def test_the_order_of_people_decides_nothing(values, k, order):
    people = list(range(len(values)))
    order.shuffle(people)

    one, other = coarsened(values, k), coarsened([values[person] for person in people], k)

    assert other == (one and tuple(one[person] for person in people))


@pytest.mark.parametrize(
    ("people", "left"),
    [
        ({"IN": 6, "GB": 5, "FR": 2, "DE": 1}, {"IN": 6, "other": 8}),
        ({"IN": 4}, None),
        ({"IN": 5, "GB": 1}, None),
    ],
    ids=["rare ones with the next rarest", "fewer people than k", "nothing else left"],
)
def test_rare_attributes_become_other(people, left):
    found = coarsened(list(Counter(people).elements()), 5)

    assert (found and Counter(found)) == left


def database_url() -> str:
    """Return the address of the test's own database, for another process."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_another_process_builds_the_same_bytes(settings, tmp_path):
    settings.HEART_BOOTSTRAP_REPLICATES = 20
    settings.HEART_DATA_DIR = tmp_path / "here"
    study = make_study_to_release(title="Wörter für \u201ealle\u201c")
    fit = study.fits.get(pool="COMBINED", context_set="ALL")
    services.analyse_fit(fit_id=fit.pk, kind="AGREEMENT", clock=lambda: START)
    build(study, tmp_path / "one")
    apart = tmp_path / "apart"
    apart.mkdir()

    command = ["release", "build", "--study", study.slug, "--out", str(apart / "two")]
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command],
        cwd=apart,
        env=ELSEWHERE
        | {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url(),
            "HEART_DATA_DIR": str(apart / "data"),
        },
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    names = files_of(tmp_path / "one")
    assert names == files_of(apart / "two")
    assert "figures" in {name.partition("/")[0] for name in names}
    differing = [
        name
        for name in names
        if (tmp_path / "one" / name).read_bytes() != (apart / "two" / name).read_bytes()
    ]
    assert differing == []
