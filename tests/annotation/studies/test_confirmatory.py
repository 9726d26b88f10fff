"""Which analyses are confirmatory: what a file may name, and what it was judged under."""

import pytest

from annotation.models import Study
from annotation.studies import rubric
from annotation.studies.protocol import files
from annotation.studies.protocol.files import STUDIES, ProtocolError, load_protocol
from annotation.studies.protocol.parts import AnalysisPlan
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.studies.services.drafts import DimensionUnknownError
from completions.files import toml
from completions.files.toml import content_hash
from ranking.choices import AnalysisKind
from ranking.fits.analysis_queries import known_kinds
from ranking.report.questions import NamedAnalyses, named_analyses
from tests.helpers.factories import NOW, make_comparison, make_dataset, make_judgment

pytestmark = pytest.mark.django_db

PLAN = AnalysisPlan(confirmatory=("pairs", "weights"), weights={"H": 1, "T": 3})


def file_of(plan, **changes):
    shipped = load_protocol(STUDIES / "heart-preference.toml")
    return shipped.model_copy(update={"analysis": plan} | changes)


def draft(plan=PLAN):
    file = file_of(plan)
    rubric = load_rubric(file.rubric)
    return drafts.create_study(protocol=file, rubric=rubric, dataset=make_dataset(), now=NOW)


def locked(plan=PLAN):
    return states.lock_study(study=draft(plan), now=NOW)


def judged(study):
    return make_judgment(comparison=make_comparison(study=study))


class TestNamedAnalyses:
    def test_are_those_of_the_locked_file_before_and_after_anybody_judged(self):
        study = locked()
        before = named_analyses(study)
        judged(study)

        named = named_analyses(study)

        assert named == before
        assert named.kinds == {AnalysisKind.PAIRS, AnalysisKind.WEIGHTS}
        assert named.weights == {"H": 1.0, "T": 3.0}
        assert not named.is_exploratory(AnalysisKind.PAIRS)
        assert named.is_exploratory(AnalysisKind.DIMENSIONS)

    def test_of_a_draft_are_none(self):
        assert named_analyses(draft()) == NamedAnalyses(was_changed=True)

    def test_are_none_where_the_file_names_none(self, django_assert_num_queries):
        study = locked(None)

        with django_assert_num_queries(0):
            assert named_analyses(study) == NamedAnalyses()


class TestAnAmendedFile:
    def test_is_a_version_of_its_own_and_the_judged_one_stays_as_it_was(self):
        before = locked(None)
        judged(before)
        file = file_of(PLAN)

        after = drafts.create_version(protocol=file, rubric=load_rubric(file.rubric), now=NOW)

        assert named_analyses(Study.objects.get(pk=before.pk)) == NamedAnalyses()
        assert named_analyses(states.lock_study(study=after, now=NOW)).kinds

    def test_in_the_database_confirms_nothing(self):
        study = locked(AnalysisPlan(confirmatory=("pairs",)))
        judged(study)
        more = study.content | {"analysis": {"confirmatory": ["pairs", "style"], "weights": {}}}
        Study.objects.filter(pk=study.pk).update(content=more)

        assert named_analyses(Study.objects.get(pk=study.pk)) == NamedAnalyses(was_changed=True)

    def test_with_its_hash_amended_too_confirms_nothing(self):
        study = locked(None)
        judged(study)
        more = study.content | {"analysis": {"confirmatory": ["style"], "weights": {}}}
        changed = {"content": more, "protocol_hash": content_hash(more)}
        Study.objects.filter(pk=study.pk).update(**changed)

        study = Study.objects.get(pk=study.pk)
        judged(study)  # under the new hash

        assert named_analyses(study) == NamedAnalyses(was_changed=True)


class TestWeights:
    @pytest.mark.parametrize(
        ("shares", "is_exploratory"),
        [
            ({"H": 0.25, "T": 0.75}, False),
            ({"H": 0.25, "T": 0.75, "E": 0.0}, False),
            ({"H": 0.75, "T": 0.25}, True),
            ({"H": 0.25, "E": 0.75}, True),
            (None, True),
        ],
        ids=["named", "named, others 0", "exchanged", "another dimension", "equal ones"],
    )
    def test_are_confirmatory_as_they_were_named_alone(self, shares, is_exploratory):
        named = named_analyses(locked())

        assert named.is_exploratory(AnalysisKind.WEIGHTS, shares) is is_exploratory

    def test_of_a_dimension_that_the_rubric_does_not_have_are_refused(self):
        with pytest.raises(DimensionUnknownError, match="has no dimension Z; it has H, E, A, R, T"):
            locked(AnalysisPlan(confirmatory=("weights",), weights={"H": 1, "Z": 2}))


FILE = (STUDIES / "heart-preference.toml").read_text(encoding="utf-8")
RUBRIC = rubric.load_rubric("heart-1").content()


def parsed(*lines):
    text = "\n".join([FILE, "", "[analysis]", *lines])
    return files.parse_protocol(text, source="study.toml")


class TestAnalysisPlan:
    @pytest.mark.parametrize("kind", AnalysisKind)
    def test_names_every_analysis_as_its_address_does(self, kind):
        weights = ["weights = { H = 1 }"] if kind is AnalysisKind.WEIGHTS else []

        plan = parsed(f'confirmatory = ["{kind.lower()}"]', *weights).analysis

        assert plan.confirmatory == (kind.lower(),)

    def test_changes_the_hash_and_nothing_that_raters_read(self):
        plain = files.parse_protocol(FILE, source="x")
        named = parsed('confirmatory = ["strategies"]')
        studies = [
            plain,
            named,
            parsed('confirmatory = ["pairs", "agreement"]'),
            parsed('confirmatory = ["weights"]', "weights = { H = 1, T = 2 }"),
            parsed('confirmatory = ["weights"]', "weights = { H = 1, T = 3 }"),
        ]

        contents = [study.content(RUBRIC, normaliser="normaliser-3") for study in studies]

        assert len({toml.content_hash(content) for content in contents}) == 5
        assert "analysis" not in contents[0], "its hash is what it was before files could name any"
        assert named.mentions(["strategies"]) == plain.mentions(["strategies"])

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
