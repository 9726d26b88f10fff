"""What is changed in a release is named, by whoever has its files and nothing else."""

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotation.models import Study
from ranking.release_check.__main__ import main
from ranking.release_check.bundle import Bundle, problems_of_files, problems_of_hashes
from ranking.release_check.verifying import verify
from ranking.released.writing import SUMS, files_of, lines
from ranking.report import services as report_services
from tests.helpers.released import START, build, forge_sums
from tests.ranking.releases.tampering import (
    FORGED,
    NAMED,
    NO_FILES,
    ODD,
    change_agreement,
    change_rating,
    relabel,
    rows,
)

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
BARE = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}


@pytest.fixture(scope="module")
def release(key_to_release, tmp_path_factory):
    """A release with an analysis, which is only read."""
    place = tmp_path_factory.mktemp("releases")
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40, HEART_DATA_DIR=place / "kept"):
        study = Study.objects.get(pk=key_to_release)
        fit = study.fits.get(pool="COMBINED", context_set="ALL")
        report_services.analyse_fit(fit_id=fit.pk, kind="AGREEMENT", clock=lambda: START)
        build(study, place / "built", is_drawn=False)
    return place / "built"


@pytest.fixture
def folder(release, tmp_path):
    """A copy, to be changed."""
    return shutil.copytree(release, tmp_path / "copy")


class TestTampering:
    @pytest.mark.parametrize(("change", "name"), NAMED.values(), ids=NAMED)
    def test_whatever_is_changed_is_named(self, folder, change, name):
        change(folder)

        report = verify(folder, is_quick=True)

        assert not report.is_sound
        assert any(name in problem for problem in report.problems), report.problems

    @pytest.mark.parametrize(("change", "name"), FORGED.values(), ids=FORGED)
    def test_a_forger_who_mends_the_checksums_is_found_by_the_numbers(self, folder, change, name):
        change(folder)
        forge_sums(folder)

        report = verify(folder, is_quick=True)

        assert any(name in problem for problem in report.problems), report.problems

    @pytest.mark.parametrize(("change", "said"), ODD.values(), ids=ODD)
    def test_what_is_odd_in_a_file_is_told_in_words_that_any_terminal_shows(
        self, folder, change, said
    ):
        change(folder)
        forge_sums(folder)
        told = list[str]()

        report = verify(folder, is_quick=True, tell=told.append)

        assert any(said in problem for problem in report.problems), report.problems
        shown = "\n".join([*told, report.as_text()])
        assert re.search(r"Error|codec|object has no", shown) is None
        assert all(line.isprintable() for line in shown.split("\n"))

    @pytest.mark.parametrize(("change", "said"), NO_FILES.values(), ids=NO_FILES)
    def test_what_is_no_file_of_a_release_is_told_before_it_is_read(self, folder, change, said):
        change(folder)

        report = verify(folder, is_quick=True)

        assert any(said in problem for problem in report.problems), report.problems

    def test_an_analysis_is_computed_as_its_name_says(self, folder):
        relabel(kind="LIKERT")(folder)
        change_agreement(folder)
        forge_sums(folder)

        report = verify(folder, is_quick=True)

        assert any("agreement.json: findings.tables" in one for one in report.problems)

    def test_a_reply_of_the_source_is_null_where_the_licence_keeps_it(self, folder):
        path = folder / "data/systems.jsonl"
        path.write_text(path.read_text().replace('"kind":"MODEL"', '"kind":"ORIGINAL"'))
        people = {row["slug"] for row in rows(folder, "systems") if row["kind"] == "HUMAN"}
        texts = [
            row | {"text": row["text"] if row["system"] in people else None}
            for row in rows(folder, "completions")
        ]
        (folder / "data/completions.jsonl").write_text("".join(lines(texts)))

        assert list(problems_of_hashes(Bundle.read(folder))) == []

    def test_any_changed_byte_is_named(self, folder):
        for name in files_of(folder):
            if name == SUMS:
                continue
            kept = (folder / name).read_bytes()
            (folder / name).write_bytes(bytes([kept[0] ^ 1]) + kept[1:] if kept else b"x")
            assert [one.partition(":")[0] for one in problems_of_files(folder)] == [name]
            (folder / name).write_bytes(kept)

    def test_the_command_ends_with_1_and_says_what_differs(self, folder):
        change_rating(folder)
        out = io.StringIO()

        with pytest.raises(CommandError) as refused:
            call_command("release", "verify", str(folder), stdout=out)

        assert refused.value.returncode == 1
        assert "its checksum is not the one" in out.getvalue()

    @pytest.mark.parametrize("name", ["none", "release.json"])
    def test_what_is_no_folder_is_a_wrong_call_and_no_release_that_is_unsound(
        self, folder, name, capsys
    ):
        with pytest.raises(CommandError, match="is no folder; unpack"):
            call_command("release", "verify", str(folder / name))
        with pytest.raises(SystemExit) as ended:
            main([str(folder / name)])

        assert ended.value.code == 2
        assert "is no folder; unpack" in capsys.readouterr().err


class TestAnotherMachine:
    def test_it_verifies_without_settings_database_or_network(self, folder):
        done = subprocess.run(
            [sys.executable, "-m", "ranking.release_check", str(folder)],
            cwd=ROOT,
            env=BARE | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stdout + done.stderr
        assert "numbers computed again are the same" in done.stdout

    def test_the_command_asks_no_database(self, release, django_assert_num_queries):
        with django_assert_num_queries(0):
            call_command("release", "verify", str(release), stdout=io.StringIO())
