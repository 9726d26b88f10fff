"""The agreement of a file: replayed references, who is compared with whom, what is not known."""

import json
import re
from io import StringIO

import krippendorff
import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.helpers.datasets import shared_file
from tests.ranking.files.files import row, swapped, write

KEYS = [
    *("items", "raters", "raw_agreement", "fleiss_kappa", "krippendorff_alpha", "pairs"),
    *("llm_vs_human_majority", "position", "warnings"),
]


def answers(tmp_path, *tables):
    """Return what is answered of each table of rows."""
    return [agreement(write(tmp_path / f"{n}.csv", rows)) for n, rows in enumerate(tables)]


def agreement(path, *options):
    out = StringIO()
    call_command("agreement", str(path), "--json", "--reps", "200", *options, stdout=out)
    return json.loads(out.getvalue())


def judged(*opinions, context="c1", kind="human", sides=("ada", "bo")):
    """Return a row per (rater, winner)."""
    return [
        row(context, sides[0], sides[1], winner, rater_id=rater, judge_kind=kind)
        for rater, winner in opinions
    ]


def random_rows(seed, *, n_contexts=12, kinds=("human", "human", "human", "llm")):
    rng = np.random.default_rng(seed)
    return [
        row(f"c{context}", "ada", "bo", rng.choice(["a", "b", "tie"]), rater_id=f"r{n}",
            judge_kind=kind)
        for context in range(n_contexts)
        for n, kind in enumerate(kinds)
        if rng.random() < 0.8
    ]  # fmt: skip


def pair(answer, a, b):
    return next(one for one in answer["pairs"] if (one["a"], one["b"]) == (a, b))


def named(rows, key, name):
    return next(one for one in rows if one[key] == name)


class TestReplay:
    def test_pandalm_gives_the_published_kappas(self):
        reference = json.loads(shared_file("replay/reference.json").read_text())["pandalm"]

        answer = agreement(shared_file("replay/pandalm/judgments.csv"))

        for names, kappa in reference["cohen"].items():
            assert pair(answer, *names.split("-"))["kappa"] == pytest.approx(kappa, abs=1e-4)
        kappas = [pair(answer, *two)["kappa"] for two in (("h1", "h2"), ("h1", "h3"), ("h2", "h3"))]
        assert [round(kappa, 2) for kappa in kappas] == [0.85, 0.88, 0.86]
        assert answer["fleiss_kappa"] == pytest.approx(reference["fleiss"], abs=1e-4)
        assert (answer["items"], answer["raters"]) == (999, 3)

    def test_llmfao_gives_the_reference(self):
        reference = json.loads(shared_file("replay/reference.json").read_text())["llmfao"]

        answer = agreement(shared_file("replay/llmfao/judgments.csv"))

        judges = {one["judge"]: one for one in answer["llm_vs_human_majority"]}
        found = {
            "alpha_nominal": answer["krippendorff_alpha"]["nominal"],
            "fleiss5": answer["fleiss_kappa"],
            "gpt4_vs_majority_decisive": judges["gpt4"]["agreement"],
            "gpt3_vs_majority_decisive": judges["gpt3"]["agreement"],
            "gpt3_first_share": named(answer["position"], "evaluator", "gpt3")["first_share"],
        }
        assert found == pytest.approx({name: reference[name] for name in found}, abs=2e-4)
        assert (answer["items"], answer["raters"]) == (reference["pairs"], reference["workers"])
        assert answer["fleiss"] == {"items": 998, "judgments_each": 5}
        assert any("998 of 2139" in warning for warning in answer["warnings"])


class TestJson:
    def test_has_the_documented_keys(self, tmp_path):
        answer = agreement(write(tmp_path / "x.csv", random_rows(1)))

        assert list(answer)[: len(KEYS)] == KEYS
        assert list(answer["krippendorff_alpha"]) == ["nominal", "ordinal", "interval"]
        assert list(answer["pairs"][0]) == ["a", "b", "n", "agreement", "kappa"]
        assert list(answer["position"][0]) == ["evaluator", "n", "first_share", "p"]
        assert list(answer["llm_vs_human_majority"][0]) == [
            *("judge", "n", "agreement", "ci_low", "ci_high")
        ]


class TestFrame:
    def test_swapping_sides_changes_nothing_but_the_positions(self, tmp_path):
        rows = random_rows(3)
        half = [*rows[::2], *swapped(rows[1::2])]

        one, other = answers(tmp_path, rows, half)

        assert {**one, "position": None} == {**other, "position": None}
        assert one["position"] != other["position"]

    def test_renaming_systems_and_people_changes_no_figure(self, tmp_path):
        rows = random_rows(4)
        # The names come in the other order, so that the first of a pair becomes the second.
        renamed = [
            one | {"system_a": "zed", "system_b": "bo", "rater_id": f"x{one['rater_id']}"}
            for one in rows
        ]

        one, other = answers(tmp_path, rows, renamed)

        for key in ("raw_agreement", "fleiss_kappa", "krippendorff_alpha"):
            assert one[key] == pytest.approx(other[key])
        assert [p["kappa"] for p in one["pairs"]] == pytest.approx(
            [p["kappa"] for p in other["pairs"]]
        )

    def test_both_orders_of_a_pair_are_one_item(self, tmp_path):
        rows = [
            *judged(("r1", "a"), ("r2", "a")),
            *swapped(judged(("r3", "a"))),
            *judged(("r1", "b"), ("r2", "tie"), context="c2"),
        ]

        answer = agreement(write(tmp_path / "x.csv", rows))

        assert answer["items"] == 2
        assert pair(answer, "r1", "r3") == {
            "a": "r1", "b": "r3", "n": 1, "agreement": 1.0, "kappa": None,
        }  # fmt: skip

    def test_pairs_of_texts_are_items_of_their_own_where_the_file_names_them(self, tmp_path):
        rows = [
            one | {"pair_id": pair_id}
            for pair_id in ("p1", "p2")
            for one in judged(("r1", "a"), ("r2", "a"))
        ]

        assert agreement(write(tmp_path / "x.csv", rows))["items"] == 2

    def test_nobody_is_compared_with_himself(self, tmp_path):
        rows = [
            *judged(("r1", "a"), ("r1", "a"), ("r1", "b"), ("r2", "a")),
            *judged(("r1", "a"), ("r2", "b"), context="c2"),
            *judged(("j", "a"), kind="llm"),
            *judged(("j", "a"), kind="llm", sides=("bo", "ada")),
        ]

        answer = agreement(write(tmp_path / "x.csv", rows))

        assert pair(answer, "r1", "r2")["agreement"] == 0.5
        assert pair(answer, "r1", "r2")["n"] == 2
        assert all(one["a"] != one["b"] for one in answer["pairs"])
        # The judge favours what is shown first: once each, which is a tie.
        assert pair(answer, "j", "r1")["agreement"] == 0.0
        assert named(answer["position"], "evaluator", "j")["n"] == 2
        assert any("3 repeats of" in warning for warning in answer["warnings"])


class TestAgainstPeople:
    def test_ties_on_either_side_and_split_majorities_are_left_out(self, tmp_path):
        rows = [
            *judged(("r1", "a"), ("r2", "a"), ("r3", "b"), context="agrees"),
            *judged(("r1", "b"), ("r2", "b"), context="differs"),
            *judged(("r1", "a"), ("r2", "b"), context="split"),
            *judged(("r1", "tie"), ("r2", "tie"), context="tied"),
            *judged(("r1", "a"), ("r2", "a"), context="judge tied"),
            *(
                row(name, rater_id="j", judge_kind="llm", winner=winner)
                for name, winner in (
                    *(("agrees", "a"), ("differs", "a"), ("split", "a"), ("tied", "a")),
                    *(("judge tied", "tie"), ("nobody", "a")),
                )
            ),
        ]

        (found,) = agreement(write(tmp_path / "x.csv", rows))["llm_vs_human_majority"]

        assert (found["judge"], found["n"], found["agreement"]) == ("j", 2, 0.5)
        assert found["ci_low"] <= 0.5 <= found["ci_high"]

    def test_people_alone_make_up_the_first_figures(self, tmp_path):
        people = [
            *judged(("r1", "a"), ("r2", "a"), context="c1"),
            *judged(("r1", "b"), ("r2", "b"), context="c2"),
        ]
        judges = judged(("j", "b"), kind="llm", context="c1")

        answer = agreement(write(tmp_path / "x.csv", [*people, *judges]))

        assert (answer["raters"], answer["raw_agreement"]) == (2, 1.0)
        assert answer["krippendorff_alpha"]["nominal"] == 1.0

    def test_judges_alone_are_compared_with_each_other(self, tmp_path):
        rows = random_rows(5, kinds=("llm", "llm"))

        answer = agreement(write(tmp_path / "x.csv", rows))

        assert answer["raters"] == 2
        assert answer["llm_vs_human_majority"] is None
        assert any("only one of the two kinds" in warning for warning in answer["warnings"])


class TestWhatIsNotKnown:
    def test_one_rater_has_nothing_to_agree_with(self, tmp_path):
        answer = agreement(write(tmp_path / "x.csv", judged(("r1", "a"))))

        assert answer["raw_agreement"] is None
        assert answer["fleiss_kappa"] is None
        assert answer["krippendorff_alpha"] == dict.fromkeys(("nominal", "ordinal", "interval"))
        assert answer["pairs"] == []
        assert answer["position"] == [{"evaluator": "r1", "n": 1, "first_share": 1.0, "p": 1.0}]
        assert len(answer["warnings"]) >= 4

    def test_full_agreement_on_one_answer_says_nothing(self, tmp_path):
        answer = agreement(write(tmp_path / "x.csv", judged(("r1", "tie"), ("r2", "tie"))))

        assert answer["raw_agreement"] == 1.0
        assert answer["fleiss_kappa"] is None
        assert answer["pairs"][0]["kappa"] is None
        assert named(answer["position"], "evaluator", "r1")["first_share"] is None

    def test_without_kinds_everybody_is_one_panel(self, tmp_path):
        rows = [{k: v for k, v in one.items() if k != "judge_kind"} for one in random_rows(6)]

        answer = agreement(write(tmp_path / "x.csv", rows))

        assert answer["raters"] == 4
        assert answer["llm_vs_human_majority"] is None
        assert any("no column judge_kind" in warning for warning in answer["warnings"])

    def test_answers_at_random_agree_as_chance_does(self, tmp_path):
        rows = random_rows(7, n_contexts=3_000, kinds=("human",) * 4)

        answer = agreement(write(tmp_path / "x.csv", rows))

        # 0.03 is three standard errors
        for figure in (*answer["krippendorff_alpha"].values(), answer["fleiss_kappa"]):
            assert figure == pytest.approx(0.0, abs=0.03)

    def test_strengths_have_an_alpha_of_their_own(self, tmp_path):
        strengths = np.random.default_rng(8).integers(-5, 6, size=(3, 40))
        rows = [
            row(f"c{item}", "ada", "bo", "a" if value > 0 else "b" if value else "tie",
                rater_id=f"r{rater}", strength=str(abs(value)) if value else "")
            for (rater, item), value in np.ndenumerate(strengths)
        ]  # fmt: skip

        found = agreement(write(tmp_path / "x.csv", rows))["krippendorff_alpha_of_strengths"]

        for metric, alpha in found.items():
            peer = krippendorff.alpha(reliability_data=strengths, level_of_measurement=metric)
            assert alpha == pytest.approx(peer, abs=1e-6)


REFUSED = {
    "no raters": ([row()], "no column rater_id"),
    "a row without a rater": (judged(("r1", "a"), ("", "a")), "line 3: rater_id is empty"),
    "an evaluator of both kinds": (
        [*judged(("r1", "a")), *judged(("r1", "a"), kind="llm", context="c2")],
        "r1 is named as a person and as an LLM judge",
    ),
}


@pytest.mark.parametrize(("rows", "says"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_used_is_refused_with_code_2(tmp_path, rows, says):
    with pytest.raises(CommandError, match=says) as caught:
        agreement(write(tmp_path / "x.csv", rows))

    assert caught.value.returncode == 2


def test_the_tables_are_for_reading(tmp_path):
    out = StringIO()
    path = write(tmp_path / "x.csv", random_rows(9, n_contexts=19))

    call_command("agreement", str(path), stdout=out)

    text = out.getvalue()
    assert re.match(r"\d+ pairs judged by 3 \(people\)", text)
    assert "Alpha, nominal" in text
    assert "LLM judges against the majority of people" in text
    assert "different context_id: with fewer than 20" in text
