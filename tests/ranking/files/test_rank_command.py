"""The command line of rankings; none of these tests may touch a database."""

import csv
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.helpers.datasets import shared_file
from tests.ranking.files.files import duel, row, tournament, write

ROOT = Path(__file__).resolve().parents[3]
KEYS = ["method", "n_judgments", "converged", "components", "warnings", "systems"]


def rank(path, *options):
    out = StringIO()
    call_command("rank", str(path), "--reps", "20", *options, stdout=out)
    return out.getvalue()


def rank_json(path, *options):
    return json.loads(rank(path, "--json", *options))


def in_two_strata():
    return [one | {"stratum": "xy"[n % 2]} for n, one in enumerate(duel(30, 10))]


@pytest.mark.parametrize("name", ["llmfao", "pandalm"])
def test_replayed_judgments_come_out_as_the_reference_has_them(name):
    with shared_file(f"replay/{name}/reference_bt.csv").open(encoding="utf-8") as stream:
        reference = {one[""]: one for one in csv.DictReader(stream)}

    answer = rank_json(shared_file(f"replay/{name}/judgments.csv"))

    assert {one["system"] for one in answer["systems"]} == set(reference)
    for one in answer["systems"]:
        expected = reference[one["system"]]
        assert one["theta"] == pytest.approx(float(expected["theta"]), abs=1e-6)
        assert one["elo"] == pytest.approx(float(expected["elo"]), abs=2e-4)
        assert one["win_rate"] == pytest.approx(float(expected["winrate_half_ties"]), abs=1e-9)
        assert one["n"] == float(expected["n"])


class TestJson:
    @pytest.mark.parametrize("ties", ["half", "drop", "davidson", "rao-kupper"])
    @pytest.mark.parametrize("ci", ["bootstrap", "sandwich", "fisher", "paper"])
    def test_the_method_says_what_was_done(self, tmp_path, ties, ci):
        path = write(tmp_path / "x.jsonl", tournament(1, n_contexts=30, strengths=True))
        method = rank_json(path, "--ties", ties, "--ci", ci, "--strength", "multiply")["method"]

        assert (method["ties"], method["ci"], method["strength"]) == (ties, ci, "multiply")
        assert (method["seed"], method["replicates"], method["unit"]) == (0, 20, "context_id")
        assert method["n_units"] == 30
        assert ("draw_parameter" in method) == (ties in {"davidson", "rao-kupper"})
        assert len(method["file_sha256"]) == 64

    def test_every_group_of_a_column_has_an_answer_of_its_own(self, tmp_path):
        rows = [one | {"dialogue": f"d{n % 7}"} for n, one in enumerate(in_two_strata())]
        options = ("--by", "stratum", "--unit", "dialogue")

        answer = rank_json(write(tmp_path / "x.parquet", rows), *options)

        assert answer["method"]["n_units"] == 7
        assert list(answer) == [*KEYS, "by"]
        assert list(answer["by"]) == ["x", "y"]
        assert all(list(one) == KEYS for one in answer["by"].values())
        assert sum(one["n_judgments"] for one in answer["by"].values()) == 40


class TestRefusals:
    def test_bad_rows_end_with_code_2_and_nothing_printed(self, tmp_path):
        path = write(tmp_path / "x.csv", [row(), row(winner="nobody")])
        out = StringIO()

        with pytest.raises(CommandError, match="line 3: winner") as caught:
            call_command("rank", str(path), stdout=out)

        assert caught.value.returncode == 2
        assert out.getvalue() == ""

    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
    def test_groups_that_do_not_compare_are_told_and_end_with_code_2(self, tmp_path, options):
        path = write(tmp_path / "x.csv", [*duel(3, 2), row("c1", "cy", "dee", "a")])
        out = StringIO()

        with pytest.raises(CommandError, match="3 groups of systems") as caught:
            call_command("rank", str(path), *options, stdout=out)

        assert caught.value.returncode == 2
        if options:
            answer = json.loads(out.getvalue())
            assert answer["components"] == [["ada", "bo"], ["cy"], ["dee"]]
            assert (answer["converged"], answer["systems"]) == (False, [])
            assert len(answer["joining"]) == 2
        else:
            assert "Group: ada, bo" in out.getvalue()
            assert "Would join them: " in out.getvalue()

    def test_groups_are_ranked_one_by_one_on_request(self, tmp_path):
        path = write(tmp_path / "x.csv", [*duel(3, 2), row("c1", "cy", "dee", "tie")])

        answer = rank_json(path, "--per-component")

        assert answer["converged"] is True
        assert answer["method"]["per_component"] is True
        assert [one["rank"] for one in answer["systems"]] == [1, 2, 1, 1]

    TWICE = ("--columns", "winner=system_a,winner=winner")

    @pytest.mark.parametrize(
        "options",
        [
            *(["--reps", "1"], ["--ties", "ignore"], ["--seed", "-1"], ["--unit", "none"], TWICE),
            *(["--unit", ""], ["--by", " "], ["--columns", "stength=context_id"]),
        ],
        ids=" ".join,
    )
    def test_options_that_mean_nothing_are_refused(self, tmp_path, options):
        with pytest.raises(CommandError):
            rank(write(tmp_path / "x.csv", duel(3, 1)), *options)


def test_the_table_is_for_reading(tmp_path):
    text = rank(write(tmp_path / "x.csv", duel(30, 10, 5)))

    assert text.startswith("45 judgments of 2 systems on 10 different context_id")
    assert "Rank  System" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("   ")]
    assert [row[1] for row in rows] == ["ada", "bo"]
    assert "72.2 %" in text
    assert "Note: Strengths are ignored" in text


def test_the_table_of_groups_names_each(tmp_path):
    text = rank(write(tmp_path / "x.csv", in_two_strata()), "--by", "stratum")

    assert "== x (20 judgments)" in text
    assert "== y (20 judgments)" in text


HOSTILE = "a\x1b[31mda\nNote: forged\u202e\u2028\x9b\x7f"
SHOWN = r"a\x1b[31mda\nNote: forged\u202e\u2028\x9b\x7f"
KINDS = ("human", "llm")
HOSTILE_FILES = {
    "systems and raters": [row(f"c{n}", HOSTILE, winner="ab"[n % 2]) for n in range(4)],
    "names alike": [row("c1", HOSTILE), row("c2", HOSTILE.upper()), row("c3", "bo", "ada")],
    "groups": [row("c1", HOSTILE), row("c2", "cy", "dee")],
    "a winner": [row(winner=HOSTILE)],
    "values to rank by": [row(f"c{n}", winner="ab"[n % 2], by=HOSTILE) for n in range(4)],
    "a person and a judge": [row(f"c{n}", judge_kind=KINDS[n % 2]) for n in range(4)],
    "no column of ours": [{"talk": "c1", HOSTILE: "a"}],
}


@pytest.mark.parametrize("rows", HOSTILE_FILES.values(), ids=HOSTILE_FILES)
@pytest.mark.parametrize("command", ["rank", "agreement"])
def test_names_that_would_move_the_cursor_are_shown_harmless(tmp_path, command, rows):
    path, out, err = tmp_path / "x.jsonl", StringIO(), StringIO()
    write(path, [{"rater_id": HOSTILE} | one for one in rows])
    by = ["--by", "by"] if command == "rank" and "by" in rows[0] else []
    try:
        call_command(command, str(path), "--reps", "20", *by, stdout=out, stderr=err)
    except CommandError as refusal:
        err.write(str(refusal))

    said = out.getvalue() + err.getvalue()
    assert all(line.isprintable() for line in said.split("\n")), said
    assert "\nNote: forged" not in said


def test_a_name_is_shown_in_a_table_with_its_columns_in_place(tmp_path):
    text = rank(write(tmp_path / "x.csv", HOSTILE_FILES["systems and raters"]))

    rows = [line for line in text.splitlines() if SHOWN in line or "  bo  " in line]
    assert len({len(line) for line in rows}) == 1
    assert len(rows) == 2


def test_a_column_named_twice_is_shown_harmless(tmp_path):
    (tmp_path / "x.csv").write_text(f'winner,"{HOSTILE}","{HOSTILE}"\n', newline="")

    with pytest.raises(CommandError, match=re.escape(f"a column twice: {SHOWN}.")):
        rank(tmp_path / "x.csv")


@pytest.mark.full
def test_a_machine_without_any_database_can_rank(tmp_path):
    path = write(tmp_path / "x.csv", duel(3, 1))
    settings = {
        "HEART_SECRET_KEY": "test",
        "HEART_DATA_DIR": str(tmp_path / "data"),
        "PATH": os.environ["PATH"],
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
    }

    def run(*words):
        command = [sys.executable, "manage.py", "rank", *words]
        return subprocess.run(
            command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False
        )

    done, missing = run(str(path), "--json"), run(str(tmp_path / "none.csv"))

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["n_judgments"] == 4
    assert missing.returncode == 2
    assert missing.stdout == ""
    assert "There is no such file." in missing.stderr
