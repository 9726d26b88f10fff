"""What models find in rationales, beside the rules."""

from dataclasses import replace

import numpy as np
import pytest

from annotation.rationales.themes import load_codebook
from ranking.analyses import analyse
from ranking.analyses.coders import FEWEST
from ranking.judgments.sources import JudgmentFacts, ThemeLabels
from tests.ranking.analyses.helpers import make_inputs, simulate, table
from tests.ranking.analyses.sources import MadeUpSources, make_facts

BOOK = load_codebook()
WARM = BOOK.keys.index("warmth")
PRESENT, UNSURE, ABSENT = 1.0, 0.5, 0.0


@pytest.fixture
def columns(rng):
    return simulate(rng, n_units=40)


@pytest.fixture
def speaks(columns, rng):
    """Which rationales the rules find warmth in."""
    return rng.random(columns.n_judgments) < 0.5


def read_alike(speaks):
    """What a model says that goes with the rules in everything."""
    presence = np.zeros((len(speaks), len(BOOK.keys)))
    presence[speaks, WARM] = PRESENT
    return presence


@pytest.fixture
def find(columns, speaks):
    def _find(labels):
        n = columns.n_judgments
        texts = tuple(np.where(speaks, "It is warm.", "Better."))
        facts = JudgmentFacts(texts, np.full(n, np.nan), np.arange(n), np.full(n, np.nan))
        systems = {slug: make_facts(slug) for slug in columns.systems}
        sources = MadeUpSources(systems, of_judgments=facts, of_themes=labels)
        return analyse("RATIONALES", replace(make_inputs(columns), sources=sources))

    return _find


def labels_of(**presence):
    coders = tuple(name.replace("_", " ") for name in presence)
    return ThemeLabels(coders, np.stack(list(presence.values())))


def warmth(findings, key, coder="Model"):
    rows = table(findings, key)
    return next(row for row in rows if (row["coder"], row["theme"]) == (coder, "Warmth"))


class TestAModelThatGoesWithTheRules:
    def test_agrees_fully_and_finds_as_much(self, find, speaks, columns):
        findings = find(labels_of(Model=read_alike(speaks)))

        agreed = warmth(findings, "coder-agreement")
        assert (agreed["alike"], agreed["value"], agreed["pabak"], agreed["ac1"]) == (1, 1, 1, 1)
        assert agreed["rationales"] == columns.n_judgments
        is_judge = columns.is_judge[columns.evaluator]
        shares = warmth(findings, "coders")
        assert shares["people_rules"] == shares["people_model"]
        assert shares["people_model"] == pytest.approx(speaks[~is_judge].mean(), abs=1e-4)
        assert shares["judges_model"] == pytest.approx(speaks[is_judge].mean(), abs=1e-4)

    def test_has_no_kappa_on_a_theme_that_nobody_finds(self, find, speaks):
        rows = table(find(labels_of(Model=read_alike(speaks))), "coder-agreement")

        safety = next(row for row in rows if row["theme"] == "Minds safety")
        assert (safety["value"], safety["low"], safety["high"]) == (None, None, None)
        assert (safety["alike"], safety["pabak"], safety["ac1"]) == (1.0, 1.0, 1.0)


class TestAModelOfItsOwnMind:
    def test_agrees_by_chance_alone(self, find, speaks, rng):
        presence = read_alike(rng.permutation(speaks))

        row = warmth(find(labels_of(Model=presence)), "coder-agreement")

        assert row["low"] < 0 < row["high"]
        assert row["low"] < row["value"] < row["high"]

    def test_that_is_unsure_has_not_found_it(self, find, speaks):
        presence = read_alike(speaks)
        presence[:, WARM] = UNSURE

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
        presence = read_alike(speaks)
        presence[FEWEST - 1 :] = np.nan

        findings = find(labels_of(Model=presence))

        assert "coders" not in [one.key for one in findings.tables]
        assert "fewer than the 20 that its tables need" in findings.warnings[-1]

    def test_half_an_answer_does_not_count(self, find, speaks):
        presence = read_alike(speaks)
        presence[:, 0] = np.nan

        findings = find(labels_of(Model=presence))

        assert "coders" not in [one.key for one in findings.tables]

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

        assert [one.key for one in findings.tables] == ["themes"]

    def test_of_the_rules_alone_leaves_what_the_model_found(self, find, speaks):
        row = warmth(find(labels_of(Model=read_alike(~speaks))), "coders")

        assert (row["people_rules"], row["people_model"]) == (0.0, 1.0)


class TestTheRules:
    def test_decide_the_main_tables_whatever_models_say(self, find, speaks):
        without = find(None)

        found = find(labels_of(Model=1.0 - read_alike(speaks)))

        assert found.tables[: len(without.tables)] == without.tables
        assert found.warnings[: len(without.warnings)] == without.warnings
        assert found.is_exploratory
