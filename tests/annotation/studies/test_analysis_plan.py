"""What a study file may say of its analyses."""

import pytest

from annotation.studies import protocol, rubric
from annotation.studies.protocol import STUDIES, ProtocolError
from ranking.choices import AnalysisKind
from ranking.fits.analysis_queries import known_kinds

FILE = (STUDIES / "heart-preference.toml").read_text(encoding="utf-8")
RUBRIC = rubric.load_rubric("heart-1").content()


def parsed(*lines):
    text = "\n".join([FILE, "", "[analysis]", *lines])
    return protocol.parse_protocol(text, source="study.toml")


def hash_of(study):
    return protocol.content_hash(study.content(RUBRIC, normaliser="normaliser-3"))


class TestAnalysisPlan:
    @pytest.mark.parametrize("kind", AnalysisKind)
    def test_names_every_analysis_as_its_address_does(self, kind):
        weights = ["weights = { H = 1 }"] if kind is AnalysisKind.WEIGHTS else []

        plan = parsed(f'confirmatory = ["{kind.lower()}"]', *weights).analysis

        assert plan.confirmatory == (kind.lower(),)

    def test_names_no_other_analysis(self):
        with pytest.raises(ProtocolError) as refused:
            parsed('confirmatory = ["pairs", "winners"]')

        message = str(refused.value)
        assert message.startswith("study.toml: analysis.confirmatory.1: ")
        assert "'dimensions'" in message
        assert {kind.lower() for kind in known_kinds()} <= set(
            message.replace("'", " ").replace(",", " ").split()
        )

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["confirmatory = []"], "analysis.confirmatory"),
            (['confirmatory = ["pairs", "pairs"]'], "each analysis is named once"),
            (['confirmatory = ["weights"]'], 'if, and only if, "weights" is confirmatory'),
            (['confirmatory = ["pairs"]', "weights = { H = 1 }"], "if, and only if"),
            (['confirmatory = ["weights"]', "weights = { H = 0, E = 0 }"], "above 0"),
            (['confirmatory = ["weights"]', "weights = { H = -1 }"], "analysis.weights.H"),
            (['confirmatory = ["weights"]', "weights = { H = inf }"], "analysis.weights.H"),
            (['confirmatory = ["weights"]', "weights = { warm = 1 }"], "analysis.weights.warm"),
            (['confirmatory = ["pairs"]', "primary = 1"], "analysis.primary"),
        ],
        ids=lambda value: value[-1] if isinstance(value, list) else None,
    )
    def test_refuses_what_does_not_hold_together(self, lines, message):
        with pytest.raises(ProtocolError, match=message):
            parsed(*lines)


class TestHash:
    def test_of_a_file_that_names_nothing_is_what_it_was_before_files_could(self):
        study = protocol.parse_protocol(FILE, source="x")

        assert "analysis" not in study.content(RUBRIC, normaliser="normaliser-3")

    def test_changes_with_what_is_named(self):
        hashes = {
            hash_of(protocol.parse_protocol(FILE, source="x")),
            hash_of(parsed('confirmatory = ["pairs"]')),
            hash_of(parsed('confirmatory = ["pairs", "agreement"]')),
            hash_of(parsed('confirmatory = ["weights"]', "weights = { H = 1, T = 2 }")),
            hash_of(parsed('confirmatory = ["weights"]', "weights = { H = 1, T = 3 }")),
        }

        assert len(hashes) == 5

    def test_raters_do_not_read_what_is_named(self):
        study = parsed('confirmatory = ["strategies"]')

        assert study.mentions(["strategies"]) == protocol.parse_protocol(FILE, source="x").mentions(
            ["strategies"]
        )
