"""What evaluators give as reasons, by rules and beside what models find in them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from annotation.rationales.themes import load_codebook
from ranking.analyses import analyse
from ranking.analyses.coders import FEWEST
from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import ThemeLabels, TickedReasons
from ranking.numerics.clustered_means import clustered_mean
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    facts_of,
    keys_of,
    make_columns,
    make_facts,
    make_inputs,
    people_of,
    row_of,
    simulate,
    table,
)

WARM, SHORT, NOTHING = "It is warm.", "It is shorter.", "Better."


def known(columns, texts, *, human="system-1", chips=None, labels=None):
    texts = [texts] * columns.n_judgments if isinstance(texts, str) else texts
    facts = facts_of(columns, rationales=tuple(texts))
    systems = {
        slug: make_facts(slug, kind="HUMAN" if slug == human else "MODEL")
        for slug in columns.systems
    }
    sources = MadeUpSources(systems, of_judgments=facts, of_themes=labels, of_chips=chips)
    return make_inputs(columns, sources=sources)


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=80)


@pytest.fixture
def is_judge(columns):
    return columns.is_judge[columns.evaluator]


class TestThemes:
    def test_are_shares_by_kind_of_evaluator(self, columns, is_judge):
        texts = np.where(is_judge, SHORT, WARM)

        findings = analyse("RATIONALES", known(columns, texts))

        warm, length = (row_of(findings, "themes", theme=name) for name in ("Warmth", "Length"))
        assert (warm["people"], warm["judges"], warm["value"]) == (1.0, 0.0, -1.0)
        assert (length["people"], length["judges"], length["about"]) == (0.0, 1.0, "form")
        assert warm["about"] == "E"
        names = [one.name for one in load_codebook().themes]
        assert [row["theme"] for row in table(findings, "themes")] == names
        assert "Codebook heart-1" in findings.method
        assert findings.warnings == ("0 % of the rationales speak of no theme of the codebook.",)

    def test_empty_rationales_do_not_count(self, columns):
        texts = [WARM if n % 2 else "  " for n in range(columns.n_judgments)]

        findings = analyse("RATIONALES", known(columns, texts))

        assert row_of(findings, "themes", theme="Warmth")["people"] == 1.0

    def test_silence_is_counted(self, columns):
        texts = [WARM, *[NOTHING] * (columns.n_judgments - 1)]

        findings = analyse("RATIONALES", known(columns, texts))

        assert findings.warnings[0].startswith("100 % of the rationales")
        assert table(findings, "themes")

    def test_silence_of_all_is_said_and_no_table_of_noughts_is_shown(self, columns):
        findings = analyse("RATIONALES", known(columns, NOTHING))

        n = columns.n_judgments
        assert findings.warnings[0].startswith(f"None of {n} rationales speaks of a theme")
        assert [(one.key, one.rows) for one in findings.tables] == [("themes", ())]


class TestTogether:
    def test_counts_meetings_of_a_person_and_a_judge_who_agree(self, columns, is_judge, rng):
        texts = rng.choice([WARM, SHORT, NOTHING], columns.n_judgments)

        findings = analyse("RATIONALES", known(columns, texts))

        meetings = []
        for item in range(columns.n_items):
            rows = np.flatnonzero(columns.item == item)
            for one, other in product(rows[~is_judge[rows]], rows[is_judge[rows]]):
                sides = np.sign(columns.strength[[one, other]])
                if sides[0] == sides[1] != 0:
                    meetings.append((texts[one], texts[other]))
        both = np.mean([one == other == WARM for one, other in meetings])
        row = row_of(findings, "together", theme="Warmth")
        assert row["both"] == pytest.approx(both, abs=1e-4)
        assert row["lift"] == pytest.approx(1.0, abs=0.35)
        shared = table(findings, "shared")[0]
        assert shared["meetings"] == len(meetings)
        assert shared["low"] <= shared["value"] <= shared["high"]
        alike = np.mean([one == other != NOTHING for one, other in meetings])
        assert shared["value"] == pytest.approx(alike, abs=1e-4)

    def test_the_same_reason_at_every_meeting_has_no_interval(self, columns):
        """Without people among the systems, nothing is said of winning."""
        findings = analyse("RATIONALES", known(columns, WARM, human="nobody"))

        shared = table(findings, "shared")[0]
        assert (shared["value"], shared["low"], shared["high"]) == (1.0, None, None)
        assert keys_of(findings) == ["themes", "shared", "together"]


class TestChips:
    WORDS, THEMES = ("warm", "too long", "other"), ("warmth", "length", "")

    def ticked(self, *chosen):
        return TickedReasons(self.WORDS, self.THEMES, np.column_stack(chosen))

    def test_are_shares_of_peoples_answers_beside_what_sentences_say(self, columns, is_judge, rng):
        warm = rng.random(columns.n_judgments) < 0.5
        none = np.zeros(columns.n_judgments, dtype=np.bool_)
        texts = np.where(warm, WARM, "")
        chips = self.ticked(warm, is_judge, none)

        rows = table(analyse("RATIONALES", known(columns, texts, chips=chips)), "chips")

        shares = clustered_mean(warm[~is_judge].astype(float), columns.unit[~is_judge])
        low, high = shares.share_interval(0.95)
        assert rows[0] == {
            "chip": "warm",
            "theme": "Warmth",
            "ticked": warm[~is_judge].sum(),
            "value": pytest.approx(shares.mean, abs=1e-4),
            "low": pytest.approx(low, abs=1e-4),
            "high": pytest.approx(high, abs=1e-4),
            "said_with": 1.0,
            "said_without": None,
        }
        assert (rows[1]["ticked"], rows[1]["said_without"]) == (0, 0.0)  # judges tick nothing
        assert (rows[2]["theme"], rows[2]["said_with"]) == (None, None)

    def test_need_no_sentence(self, columns):
        all_of_them = np.ones(columns.n_judgments, dtype=np.bool_)
        chips = self.ticked(all_of_them, ~all_of_them, ~all_of_them)

        findings = analyse("RATIONALES", known(columns, "", chips=chips))

        assert keys_of(findings) == ["chips"]
        assert findings.warnings == ("Nobody who judged these messages gave a rationale.",)

    @pytest.mark.parametrize("n", [0, FEWEST - 1])
    def test_of_few_answers_are_not_told(self, columns, is_judge, n):
        few = columns.taken(np.flatnonzero(~is_judge)[:FEWEST] if not n else np.arange(n))
        none = np.full(few.n_judgments, bool(n))
        chips = self.ticked(none, none, none)

        findings = analyse("RATIONALES", known(few, WARM, chips=chips))

        assert "chips" not in keys_of(findings)


class TestWinning:
    def test_finds_the_theme_that_goes_with_it_and_no_other(self, columns, rng):
        is_human = np.array([slug == "system-1" for slug in columns.systems])
        model_won = np.where(is_human[columns.second], columns.strength > 0, columns.strength < 0)
        tells = rng.random(columns.n_judgments) < 0.7
        texts = np.where(model_won & tells, WARM, rng.choice([SHORT, NOTHING], len(tells)))

        findings = analyse("RATIONALES", known(columns, texts))

        warm, asks = (row_of(findings, "winning", theme=name) for name in ("Warmth", "Length"))
        assert warm["low"] > 0.2
        assert warm["p"] < 0.001
        assert asks["value"] < 0
        unspoken = row_of(findings, "winning", theme="Minds safety")
        assert (unspoken["rationales"], unspoken["value"], unspoken["p"]) == (0, None, None)

    def test_holds_equal_whether_the_model_was_shown_first_whichever_side_it_is_on(self, rng):
        """What is shown first wins, and most who see the model first speak of warmth."""
        sides = rng.choice([-1, 1], 400)  # of the model, in the order of the pair
        shown, speaks = rng.choice([-1, 1], 400), rng.random(400) < 0.8
        rows = [
            (f"d{n // 10:02d}", n, *("mh" if side > 0 else "hm"), "r", int(2 * place), int(place))
            for n, (side, place) in enumerate(zip(sides, shown, strict=True))
        ]
        texts = np.where((sides * shown > 0) == speaks, WARM, SHORT)

        findings = analyse("RATIONALES", known(make_columns(rows), texts, human="h"))

        warm = row_of(findings, "winning", theme="Warmth")
        assert warm["raw"] > 0.4
        assert warm["value"] == pytest.approx(0.0, abs=1e-9)

    def test_a_rare_theme_with_which_the_model_always_won_may_be_chance(self, rng):
        """The model wins 17 of 20; where 12 rationales speak of warmth it won as well."""
        rows = [
            (f"d{n // 5:02d}", n, "m", "h", "r", -2 if n % 20 in (3, 9, 16) else 2, 1)
            for n in range(300)
        ]
        speaks = (np.arange(300) % 5 == 0) & (np.arange(300) < 60)
        longer = np.char.multiply(f" {NOTHING}", rng.integers(9, 30, 300))
        texts = np.char.add(np.where(speaks, WARM, NOTHING), longer)

        findings = analyse("RATIONALES", known(make_columns(rows), texts, human="h"))

        warm = row_of(findings, "winning", theme="Warmth")
        assert warm["raw"] == pytest.approx(1.0 - (255 - 12) / 288, abs=1e-4)
        assert warm["p"] > 0.01  # below 1e-4, were the error that of the others alone

    def test_a_theme_of_one_dialogue_tells_nothing(self, columns):
        texts = np.where(columns.unit == columns.unit[0], WARM, NOTHING)

        findings = analyse("RATIONALES", known(columns, texts))

        assert "winning" not in keys_of(findings)

    def test_shares_end_at_one(self, columns):
        few = columns.taken(np.flatnonzero(columns.unit < 12))
        texts = np.where(few.is_judge[few.evaluator], WARM, NOTHING)
        texts[np.flatnonzero(few.is_judge[few.evaluator])[0]] = NOTHING

        warm = row_of(analyse("RATIONALES", known(few, texts)), "themes", theme="Warmth")

        assert warm["value"] < warm["high"] == 1.0

    def test_says_when_length_is_not_held_equal(self, columns):
        without = replace(columns, features=None, feature_names=())

        with_it, without_it = (
            " ".join(analyse("RATIONALES", known(one, WARM)).warnings) for one in (columns, without)
        )

        assert "length" not in with_it
        assert "not held equal" in without_it


class TestOddStudies:
    def test_without_reasons_is_refused(self, columns):
        with pytest.raises(AnalysisRefusedError, match="gave a rationale"):
            analyse("RATIONALES", known(columns, ""))

    def test_of_people_alone_has_no_judges(self, columns):
        people = people_of(columns)

        findings = analyse("RATIONALES", known(people, WARM))

        warm = row_of(findings, "themes", theme="Warmth")
        assert (warm["people"], warm["judges"], warm["value"]) == (1.0, None, None)


BOOK = load_codebook()
WARMTH = BOOK.keys.index("warmth")
PRESENT, UNSURE, ABSENT = 1.0, 0.5, 0.0


@pytest.fixture
def speaks(columns, rng):
    """Which rationales the rules find warmth in."""
    return rng.random(columns.n_judgments) < 0.5


def read_alike(speaks):
    """What a model says that goes with the rules in everything."""
    presence = np.zeros((len(speaks), len(BOOK.keys)))
    presence[speaks, WARMTH] = PRESENT
    return presence


@pytest.fixture
def find(columns, speaks):
    def _find(labels):
        texts = np.where(speaks, WARM, NOTHING)
        return analyse("RATIONALES", known(columns, texts, human="nobody", labels=labels))

    return _find


def labels_of(**presence):
    coders = tuple(name.replace("_", " ") for name in presence)
    return ThemeLabels(coders, np.stack(list(presence.values())))


def warmth(findings, key, coder="Model"):
    return row_of(findings, key, coder=coder, theme="Warmth")


class TestAModelThatGoesWithTheRules:
    def test_agrees_fully_and_finds_as_much(self, find, speaks, is_judge):
        findings = find(labels_of(Model=read_alike(speaks)))

        agreed = warmth(findings, "coder-agreement")
        assert (agreed["alike"], agreed["value"], agreed["pabak"], agreed["ac1"]) == (1, 1, 1, 1)
        assert agreed["rationales"] == len(speaks)
        shares = warmth(findings, "coders")
        assert shares["people_rules"] == shares["people_model"]
        assert shares["people_model"] == pytest.approx(speaks[~is_judge].mean(), abs=1e-4)
        assert shares["judges_model"] == pytest.approx(speaks[is_judge].mean(), abs=1e-4)
        unspoken = row_of(findings, "coder-agreement", theme="Minds safety")
        assert (unspoken["value"], unspoken["low"], unspoken["high"]) == (None, None, None)
        assert (unspoken["alike"], unspoken["pabak"], unspoken["ac1"]) == (1.0, 1.0, 1.0)


class TestAModelOfItsOwnMind:
    def test_agrees_by_chance_alone(self, find, speaks):
        presence = read_alike(np.random.default_rng(1).permutation(speaks))

        row = warmth(find(labels_of(Model=presence)), "coder-agreement")

        assert row["low"] < 0 < row["high"]
        assert row["low"] < row["value"] < row["high"]

    def test_that_is_unsure_has_not_found_it(self, find, speaks):
        presence = read_alike(speaks)
        presence[:, WARMTH] = UNSURE

        row = warmth(find(labels_of(Model=presence)), "coder-agreement")

        assert (row["model"], row["uncertain"]) == (0.0, 1.0)
        assert row["alike"] == pytest.approx((~speaks).mean(), abs=1e-4)

    def test_has_wider_intervals_where_dialogues_go_together(self, find, speaks, columns):
        """Half of the dialogues agree in all, half in nothing: as few as there are dialogues."""
        presence = read_alike(np.where(columns.unit % 2, speaks, ~speaks))

        row = warmth(find(labels_of(Model=presence)), "coder-agreement")

        n = columns.n_judgments
        independent = 2 * 1.96 / np.sqrt(n)
        assert row["high"] - row["low"] > 1.5 * independent

    @pytest.mark.parametrize("is_rare", [True, False])
    @pytest.mark.parametrize("n_dialogues", [9, 10])
    def test_has_no_interval_where_few_dialogues_tell_kappa(
        self, columns, find, speaks, n_dialogues, is_rare
    ):
        """A theme found, or missing, in few dialogues alone, in half of which the two differ."""
        has_it = columns.unit < n_dialogues
        speaks[:] = has_it == is_rare
        presence = read_alike(speaks ^ (has_it & (columns.unit % 2 == 0)))

        row = warmth(find(labels_of(Model=presence)), "coder-agreement")

        assert 0 < row["value"] < 1
        assert (row["low"] is None, row["high"] is None) == (n_dialogues == 9,) * 2


class TestCoverage:
    def test_only_what_a_model_has_read_is_set_beside_it(self, find, speaks, columns):
        presence = read_alike(speaks)
        presence[30:] = np.nan

        findings = find(labels_of(Model=presence))

        assert warmth(findings, "coder-agreement")["rationales"] == 30
        share = round(100 * 30 / columns.n_judgments)
        said = f"Model has read 30 of {columns.n_judgments} rationales ({share} %)."
        assert said in findings.warnings

    def test_of_too_few_is_said_and_makes_no_table(self, find, speaks):
        presence, half = read_alike(speaks), read_alike(speaks)
        presence[FEWEST - 1 :] = np.nan
        half[:, 0] = np.nan  # half an answer does not count

        findings, of_halves = find(labels_of(Model=presence)), find(labels_of(Model=half))

        assert "coders" not in {*keys_of(findings), *keys_of(of_halves)}
        assert "fewer than the 20 that its tables need" in findings.warnings[-1]

    def test_every_model_has_its_lines(self, find, speaks):
        one = read_alike(speaks)
        findings = find(labels_of(Model=one, Simulated_coder=1.0 - one))

        assert len(table(findings, "coders")) == 2 * len(BOOK.keys)
        other = warmth(findings, "coder-agreement", "Simulated coder")
        assert (other["alike"], other["pabak"]) == (0.0, -1.0)


class TestSilence:
    @pytest.fixture
    def speaks(self, columns):
        return np.zeros(columns.n_judgments, dtype=bool)

    def test_of_both_is_no_table(self, find, speaks):
        findings = find(labels_of(Model=read_alike(speaks)))

        assert keys_of(findings) == ["themes"]

    def test_of_the_rules_alone_leaves_what_the_model_found(self, find, speaks):
        row = warmth(find(labels_of(Model=read_alike(~speaks))), "coders")

        assert (row["people_rules"], row["people_model"]) == (0.0, 1.0)


class TestTheRules:
    def test_decide_the_main_tables_whatever_models_say(self, find, speaks):
        without = find(None)

        found = find(labels_of(Model=1.0 - read_alike(speaks)))

        assert found.tables[: len(without.tables)] == without.tables
        assert found.warnings[: len(without.warnings)] == without.warnings
