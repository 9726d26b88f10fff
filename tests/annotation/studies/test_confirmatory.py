"""Which analyses are confirmatory, by the file that a study was locked and judged under."""

import pytest

from annotation.models import Study
from annotation.studies import services
from annotation.studies.protocol import STUDIES, content_hash, load_protocol
from annotation.studies.protocol.parts import AnalysisPlan
from annotation.studies.rubric import load_rubric
from annotation.studies.services.studies import DimensionUnknownError
from ranking.choices import AnalysisKind
from ranking.report.questions import NamedAnalyses, named_analyses
from tests.helpers.factories import NOW, make_comparison, make_dataset, make_judgment

pytestmark = pytest.mark.django_db

PLAN = AnalysisPlan(confirmatory=("pairs", "weights"), weights={"H": 1, "T": 3})


def file_of(plan, **changes):
    shipped = load_protocol(STUDIES / "heart-preference.toml")
    return shipped.model_copy(update={"analysis": plan} | changes)


def locked(plan=PLAN):
    file = file_of(plan)
    rubric = load_rubric(file.rubric)
    study = services.create_study(protocol=file, rubric=rubric, dataset=make_dataset(), now=NOW)
    return services.lock_study(study=study, now=NOW)


def judged(study):
    return make_judgment(comparison=make_comparison(study=study))


class TestNamedAnalyses:
    def test_are_those_of_the_locked_file(self):
        study = locked()
        judged(study)

        named = named_analyses(study)

        assert named.kinds == {AnalysisKind.PAIRS, AnalysisKind.WEIGHTS}
        assert named.weights == {"H": 1.0, "T": 3.0}
        assert not named.is_exploratory(AnalysisKind.PAIRS)
        assert named.is_exploratory(AnalysisKind.DIMENSIONS)

    def test_hold_before_anybody_judged(self):
        assert named_analyses(locked()).kinds

    def test_are_none_where_the_file_names_none(self, django_assert_num_queries):
        study = locked(None)

        with django_assert_num_queries(0):
            assert named_analyses(study) == NamedAnalyses()

    def test_of_a_draft_are_none(self):
        file = file_of(PLAN)
        study = services.create_study(
            protocol=file, rubric=load_rubric(file.rubric), dataset=make_dataset(), now=NOW
        )

        assert named_analyses(study) == NamedAnalyses(was_changed=True)

    def test_a_file_without_names_has_the_hash_of_one_that_knows_of_none(self):
        assert "analysis" not in locked(None).content


class TestAnAmendedFile:
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

    def test_is_a_version_of_its_own_and_the_judged_one_stays_as_it_was(self):
        before = locked(None)
        judged(before)
        file = file_of(PLAN)

        after = services.create_version(protocol=file, rubric=load_rubric(file.rubric), now=NOW)

        assert named_analyses(Study.objects.get(pk=before.pk)) == NamedAnalyses()
        assert named_analyses(services.lock_study(study=after, now=NOW)).kinds


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
