"""Judgments as preferences, the command that exports, and what `rank` and a trainer make of it."""

import json
import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from completions.management.acting import RefusedError, put
from completions.models import Dataset, System
from ranking.choices import EvaluatorPool
from ranking.exports.options import Rule
from ranking.exports.sources import as_messages, preference, split_of
from ranking.exports.tables import PREFERENCES
from tests.helpers.factories import HOUR, make_judgment, make_study
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.released import LATER, make_mixed_study

AFTER = LATER + 3 * HOUR
USUAL = Rule()


def export(what, study, out, *options):
    said, told = StringIO(), StringIO()
    of = ["--study", study.slug] if study else []
    call_command("export", what, *of, "--out", str(out), *options, stdout=said, stderr=told)
    return said.getvalue(), told.getvalue()


def rank(path, *options):
    out = StringIO()
    call_command("rank", str(path), "--json", "--reps", "20", *options, stdout=out)
    return json.loads(out.getvalue())


def assert_same_ratings(answer, fit):
    """Hold what `rank` made of a file against the ratings of a fit."""
    rated = {one["system"]: one["elo"] for one in answer["systems"]}
    assert answer["n_judgments"] == fit.n_judgments
    for rating in fit.ratings.select_related("system"):
        assert rated[rating.system.slug] == pytest.approx(rating.elo, abs=1e-6)


def votes(*signs):
    """Each sign from a person of their own."""
    return [(f"person {number}", sign) for number, sign in enumerate(signs)]


class TestPreference:
    def test_is_for_whom_the_majority_names(self):
        first_is_chosen, found = preference(votes(1, 2, -1), USUAL)

        assert first_is_chosen
        assert found == {
            "votes_chosen": 2,
            "votes_rejected": 1,
            "votes_tied": 0,
            "n_judgments": 3,
            "n_evaluators": 3,
            "agreement": pytest.approx(2 / 3, abs=1e-6),
            "margin": pytest.approx(1 / 3, abs=1e-6),
        }

    def test_mirrors_when_the_completions_are_exchanged(self):
        (first, one), (second, other) = (
            preference(votes(*signs), USUAL) for signs in ((1, 1, -1), (-1, -1, 1))
        )

        assert (first, second) == (True, False)
        assert one == other

    @pytest.mark.parametrize(
        "signs", [(), (1, -1), (0,), (0, 0), (2, -2, 0)], ids=lambda signs: str(len(signs))
    )
    def test_is_none_without_a_lead(self, signs):
        assert preference(votes(*signs), Rule(least_agreement=0.0)) is None

    def test_asks_for_judgments_enough(self):
        assert preference(votes(1, 1), Rule(least_judgments=3)) is None
        _, found = preference(votes(1, 1, 1), Rule(least_judgments=3))
        assert found["n_judgments"] == 3

    @pytest.mark.parametrize(("least", "is_there"), [(0.6, True), (0.61, False)])
    def test_asks_for_agreement_enough(self, least, is_there):
        found = preference(votes(1, 1, 1, -1, -1), Rule(least_agreement=least))

        assert (found is not None) is is_there

    def test_counts_ties_unless_they_are_left_out(self):
        given = votes(1, 0, 0)

        assert preference(given, USUAL) is None  # a third is no majority
        _, found = preference(given, Rule(leaves_ties_out=True))
        assert (found["agreement"], found["margin"], found["votes_tied"]) == (1.0, 1.0, 2.0)

    def test_gives_a_judge_of_both_orders_the_weight_of_one(self):
        twice = [("judge 1", 3), ("judge 1", 2), ("person 1", -1), ("person 2", -1)]

        first_is_chosen, found = preference(twice, USUAL)

        assert not first_is_chosen
        assert (found["votes_chosen"], found["votes_rejected"]) == (2.0, 1.0)
        assert (found["n_judgments"], found["n_evaluators"]) == (4, 3)

    def test_lets_a_judge_whom_the_order_sways_favour_neither(self):
        swayed = [("judge 1", 1), ("judge 1", -1)]

        assert preference(swayed, USUAL) is None
        _, found = preference([*swayed, ("person 1", 1)], USUAL)
        assert (found["votes_chosen"], found["votes_rejected"]) == (1.5, 0.5)


class TestSplits:
    def test_stay_as_they_are_and_have_their_shares(self):
        names = [f"dialogue {number}" for number in range(3000)]

        parts = [split_of(one, seed="esconv", rule=USUAL) for one in names]

        assert parts == [split_of(one, seed="esconv", rule=USUAL) for one in names]
        assert parts.count("test") / 3000 == pytest.approx(0.1, abs=0.02)
        assert parts.count("validation") / 3000 == pytest.approx(0.1, abs=0.02)

    def test_follow_from_the_seed(self):
        names = [f"dialogue {number}" for number in range(100)]
        rule = Rule(test=0.5)

        one, other = ([split_of(name, seed=seed, rule=rule) for name in names] for seed in "ab")

        assert one != other

    def test_may_be_for_training_alone(self):
        assert split_of("x", seed="", rule=Rule(validation=0, test=0)) == "train"


def test_messages_have_the_seeker_as_the_user():
    turns = [{"role": "seeker", "text": "Hi"}, {"role": "supporter", "text": "Hello"}]

    assert as_messages(turns) == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
    ]


@pytest.mark.django_db
class TestRoundTrip:
    @pytest.mark.parametrize("pool", [EvaluatorPool.HUMAN, EvaluatorPool.LLM])
    def test_gives_the_ratings_of_the_platform(self, tmp_path, pool, subtests):
        study = make_judged_study(with_llm=True, n_dialogues=9)
        make_judgment(comparison=study.comparisons.first(), is_surplus=True)
        fit = fit_one(study, AFTER, pool)
        assert fit.state == "DONE"

        for form in ("csv", "jsonl", "parquet"):
            with subtests.test(form):
                path = tmp_path / f"simulated.{form}"
                export("judgments", study, path, "--format", form)
                answer = rank(path, "--judges", pool.lower(), "--per-component")

                assert "marked as not counting." in str(answer["warnings"])
                assert_same_ratings(answer, fit)
        with subtests.test("by dialogue, as the study hangs together"):
            path, by_dialogue = tmp_path / "simulated.csv", ("--unit", "dialogue")
            assert_same_ratings(rank(path, "--judges", pool.lower(), *by_dialogue), fit)


@pytest.mark.django_db
class TestFiles:
    def test_are_named_and_told(self, tmp_path):
        study = make_judgment().comparison.study

        said, told = export("judgments", study, tmp_path)

        path = tmp_path / f"{study.slug}-judgments.csv"
        assert said.startswith(f"{path} ({path.stat().st_size:,} bytes)")
        assert "1 of 1 rows" in told

    def test_are_not_overwritten_unless_forced(self, tmp_path):
        study, path = make_judgment().comparison.study, tmp_path / "x.csv"
        path.write_text("mine")

        with pytest.raises(CommandError, match="--force"):
            export("judgments", study, path)
        assert path.read_text() == "mine"

        export("judgments", study, path, "--force")
        assert path.read_text().startswith("comparison,")

    def test_leave_nothing_behind_when_reading_fails(self, tmp_path, monkeypatch):
        def broken(*_args, **_options):
            yield b"half"
            raise RuntimeError

        monkeypatch.setattr("ranking.management.commands.export.written", broken)

        with pytest.raises(RuntimeError):
            export("judgments", make_judgment().comparison.study, tmp_path / "x.csv")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("place", ["folder", "none/x.csv", "file/x.csv", "full", "link"])
    def test_that_cannot_be_written_are_refused_in_a_line_and_leave_nothing(self, tmp_path, place):
        folder = tmp_path / "at"
        for name in ("folder", "file"):
            (folder / name).mkdir(parents=True)
        (folder / "file").rmdir()
        (folder / "file").write_text("mine")
        (folder / "full").symlink_to("/dev/full")
        (folder / "link").symlink_to("/dev/full/none")
        before = sorted(folder.rglob("*"))

        with pytest.raises(
            RefusedError, match=r"cannot be written: [A-Z][a-z ]+\. Nothing was left"
        ):
            put([b"whole"], folder / place, is_forced=True)

        assert sorted(folder.rglob("*")) == before
        assert (folder / "file").read_text() == "mine"
        assert (folder / "full").is_symlink()

    def test_that_are_links_or_pipes_stay_what_they_are(self, tmp_path):
        target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
        target.write_text("old")
        link.symlink_to(target)
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

        put([b"whole"], link, is_forced=True)
        put([b"who", b"le"], pipe, is_forced=False)

        assert (link.is_symlink(), target.read_text()) == (True, "whole")
        assert (pipe.is_fifo(), os.read(reader, 10)) == (True, b"whole")
        os.close(reader)

    def test_are_never_empty(self, tmp_path):
        with pytest.raises(CommandError, match="nothing to write"):
            export("judgments", make_study(), tmp_path / "x.jsonl", "--format", "jsonl")
        assert list(tmp_path.iterdir()) == []

    def test_say_simulated_where_anything_is(self, tmp_path):
        study = make_study(is_simulated=True, title="A simulated study")

        with pytest.raises(CommandError, match=f"simulated-{study.slug}-judgments.csv"):
            export("judgments", study, tmp_path / "x.csv")

    @pytest.mark.parametrize("where", ["no/x.csv", "file/x.csv", f"{'x' * 250}.csv"], ids=range(3))
    def test_are_not_made_where_no_file_can_be(self, tmp_path, where):
        (tmp_path / "file").touch()

        with pytest.raises(CommandError, match="cannot be written"):
            export("judgments", make_judgment().comparison.study, tmp_path / where)

        assert [one.name for one in tmp_path.iterdir()] == ["file"]

    @pytest.mark.parametrize("what", ["judgments", "dictionary"])
    def test_do_not_get_the_name_of_a_folder_that_is_not_there(self, tmp_path, what):
        with pytest.raises(CommandError, match="new/ is no folder that is there"):
            export(what, make_judgment().comparison.study, f"{tmp_path}/new/", "--format", "csv")

        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("name", "begins"), [("x.csv", b"comparison,"), ("x.jsonl", b"{"), ("x.parquet", b"PAR1")]
    )
    def test_have_the_form_that_their_name_tells(self, tmp_path, name, begins):
        export("judgments", make_judgment().comparison.study, tmp_path / name)

        assert (tmp_path / name).read_bytes().startswith(begins)

    @pytest.mark.parametrize(
        ("what", "options", "reason"),
        [
            ("judgments", ["--format", "md"], "no form md"),
            ("judgments", ["--format", "xlsx"], "choose from 'csv', 'jsonl', 'parquet'"),
            ("preferences", ["--validation", "0.7", "--test", "0.7"], "more than all"),
            ("preferences", ["--validation", "nan"], "nan is no number between 0 and 1"),
            ("preferences", ["--least-judgments", "-1"], "not a whole number above zero"),
            ("dictionary", ["--format", "parquet"], "csv, md or json"),
            ("judgments", ["--split", "test"], "not of judgments"),
            ("contexts", ["--least-judgments", "1", "--without-ties"], "not of contexts"),
            ("dictionary", ["--pool", "HUMAN"], "not of dictionary"),
            ("judgments", ["--bom", "--format", "jsonl"], "Only CSV"),
        ],
    )
    def test_that_cannot_be_had_say_why(self, tmp_path, what, options, reason):
        with pytest.raises(CommandError, match=reason):
            export(what, make_judgment().comparison.study, tmp_path, *options)

    def test_of_no_study_are_refused(self, tmp_path):
        with pytest.raises(CommandError, match="--study"):
            export("judgments", None, tmp_path)

    @pytest.mark.parametrize("form", ["csv", "md", "json"])
    def test_of_the_dictionary_need_no_study(self, tmp_path, form):
        export("dictionary", None, tmp_path / f"words.{form}")

        assert "why_not" in (tmp_path / f"words.{form}").read_text()


def pairs_of(study, folder, *options):
    path = folder / "simulated.jsonl"
    export("preferences", study, path, *options)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.django_db
class TestPairs:
    @pytest.fixture
    def rows(self, tmp_path):
        study = make_mixed_study()
        Dataset.objects.update(licence="CC BY-NC 4.0")
        return pairs_of(study, tmp_path, "--pool", "COMBINED")

    def test_have_the_layout_that_trainers_read_and_the_keys_of_the_dictionary(self, rows):
        assert {tuple(row) for row in rows} == {tuple(one.name for one in PREFERENCES.columns)}
        for row in rows:
            assert row["prompt"][-1]["role"] == "user"
            for said in (row["chosen"], row["rejected"]):
                assert [set(one) for one in said] == [{"role", "content"}]
                assert said[0]["role"] == "assistant"
                assert said[0]["content"]

    def test_rest_on_what_counts_and_keep_a_dialogue_in_one_part(self, rows):
        for row in rows:
            assert row["chosen_system"] != row["rejected_system"]
            assert row["votes_chosen"] > row["votes_rejected"]
            assert 0.5 <= row["agreement"] <= 1.0
        parts = {(row["dialogue"], row["split"]) for row in rows}
        assert len(parts) == len({row["dialogue"] for row in rows}) > 0

    def test_say_what_is_simulated(self, tmp_path):
        study = make_judged_study(n_dialogues=3)
        Dataset.objects.update(licence="CC0")
        slug = study.comparisons.earliest("pk").first.system.slug
        System.objects.filter(slug=slug).update(is_simulated=True, name="Simulated Ash")

        rows = pairs_of(study, tmp_path)

        sides = ("chosen_system", "rejected_system")
        told = {(row["is_simulated"], slug in [row[side] for side in sides]) for row in rows}
        assert told == {(True, True), (False, False)}
