"""Which analyses are confirmatory: what a file may name, and how they are told apart and leave."""

import re

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.studies.protocol import files
from annotation.studies.protocol.files import STUDIES, ProtocolError, load_protocol
from annotation.studies.protocol.parts import AnalysisPlan
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.studies.services.drafts import DimensionUnknownError
from completions.files.toml import content_hash
from ranking.choices import AnalysisKind, FitState
from ranking.fits.analysis_queries import known_kinds
from ranking.report.confirmatory import NamedAnalyses, named_analyses
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_dataset,
    make_judgment,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.pages import rows_of, text
from tests.helpers.rated import make_findings, make_rated_fit
from tests.ranking.results.test_weights_pages import address as weights_address
from tests.ranking.results.test_weights_pages import analysed as weights_analysed

pytestmark = pytest.mark.django_db

PLAN = AnalysisPlan(confirmatory=("pairs", "weights"), weights={"H": 1, "T": 3})


def file_of(plan, **changes):
    shipped = load_protocol(STUDIES / "heart-preference.toml")
    return shipped.model_copy(update={"analysis": plan} | changes)


def draft(plan=PLAN):
    file = file_of(plan)
    heart = load_rubric(file.rubric)
    return drafts.create_study(protocol=file, rubric=heart, dataset=make_dataset(), now=NOW)


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

    @pytest.mark.parametrize("is_locked", [False, True], ids=["alone", "with its hash"])
    def test_in_the_database_confirms_nothing(self, is_locked):
        study = locked(AnalysisPlan(confirmatory=("pairs",)))
        judged(study)

        study = amend(study, ["pairs", "style"], is_locked=is_locked)
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
RUBRIC = load_rubric("heart-1").content()


def parsed(*lines):
    content = "\n".join([FILE, "", "[analysis]", *lines])
    return files.parse_protocol(content, source="study.toml")


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

        assert len({content_hash(content) for content in contents}) == 5
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


SAYS = "Confirmatory: named in the protocol before the judgments were seen."
ASKS = "Exploratory: it was not named in the protocol before the judgments were seen."


def amend(study, confirmatory, weights=(), *, is_locked):
    """Name analyses in the stored file, and lock it anew if wanted."""
    named = {"confirmatory": list(confirmatory), "weights": dict(weights)}
    content = study.content | {"analysis": named}
    changed = {"content": content} | ({"protocol_hash": content_hash(content)} if is_locked else {})
    Study.objects.filter(pk=study.pk).update(**changed)
    return Study.objects.get(pk=study.pk)


def analyse(fit, kind, **findings):
    result = make_findings(**findings).as_json()
    make_analysis(fit=fit, kind=kind, state=FitState.DONE, ended_at=NOW + HOUR, result=result)


def fit_naming(*confirmatory, weights=()):
    """A fit of which pairs and style were analysed, as if neither knew of the file."""
    rated = [make_system(slug=slug) for slug in ("ash", "beech", "cedar")]
    study = amend(make_study(), confirmatory, weights, is_locked=True)
    fit = make_rated_fit(rated, study=study)
    for kind in (AnalysisKind.PAIRS, AnalysisKind.STYLE):
        analyse(fit, kind)
    return fit


@pytest.fixture
def fit():
    return fit_naming("pairs")


def address(fit, kind, name="analysis", *more):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, kind, *more])


@pytest.mark.parametrize(
    ("kind", "is_exploratory"), [("pairs", False), ("style", True)], ids=["named", "not named"]
)
class TestAnAnalysis:
    def test_says_on_its_page_by_word_sign_and_border(self, client, fit, kind, is_exploratory):
        page = client.get(address(fit, kind))

        (heading,) = re.findall(r"<h1>.*?</h1>", page.content.decode(), flags=re.DOTALL)
        sign, style = ("?", "explores") if is_exploratory else ("✓", "confirms")
        assert f'class="tag {style}"><span aria-hidden="true">{sign}</span>' in heading
        assert ("exploratory" in heading) is is_exploratory
        assert ("confirmatory" in heading) is not is_exploratory
        assert (ASKS in text(page)) is is_exploratory
        assert (SAYS in text(page)) is not is_exploratory

    def test_says_it_in_the_list(self, client, fit, kind, is_exploratory):
        leaderboard = reverse("ranking:leaderboard", args=[fit.study.slug])
        html = client.get(leaderboard).content.decode()

        (line,) = [
            one
            for one in re.findall(r"<li>.*?</li>", html, flags=re.DOTALL)
            if address(fit, kind) in one
        ]
        assert ("exploratory" in line) is is_exploratory
        assert ("confirmatory" in line) is not is_exploratory

    def test_says_it_in_its_tables_its_json_the_api_and_its_figures(
        self, client, fit, kind, is_exploratory
    ):
        rows = rows_of(client.get(address(fit, kind, "table_csv", "differences")))
        assert {row["is_exploratory"] for row in rows} == {str(is_exploratory)}

        api = f"/api/v1/studies/{fit.study.slug}/fits/{fit.key}/"
        for place in (address(fit, kind, "analysis_json"), f"{api}analyses/{kind}/"):
            assert client.get(place).json()["is_exploratory"] is is_exploratory
        listed = {one["analysis"]: one for one in client.get(api).json()["analyses"]}
        assert listed[kind]["is_exploratory"] is is_exploratory

        svg = client.get(address(fit, kind, "table_figure", "matrix", "svg")).content.decode()
        assert ("exploratory" in svg) is is_exploratory
        assert ("confirmatory" in svg) is not is_exploratory


class TestAStudy:
    def test_that_names_nothing_only_explores(self, client):
        fit = make_rated_fit([make_system(slug="ash")])
        analyse(fit, AnalysisKind.PAIRS, is_exploratory=False)  # as stored by earlier code

        assert ASKS in text(client.get(address(fit, "pairs")))
        assert client.get(address(fit, "pairs", "analysis_json")).json()["is_exploratory"] is True

    def test_whose_file_was_amended_says_so_and_confirms_nothing(self, client, fit):
        amend(fit.study, ["pairs", "style"], is_locked=False)

        page = client.get(address(fit, "pairs"))

        assert ASKS in text(page)
        assert "is not the one that it was locked and judged under" in text(page)

    def test_costs_one_query_more_for_what_it_names(
        self, client, fit, django_assert_max_num_queries
    ):
        # study, fit, analysis, first judgment, which others there are, systems, judges, raters
        with django_assert_max_num_queries(8):
            assert client.get(address(fit, "pairs")).status_code == 200


class TestNamedWeights:
    @pytest.fixture
    def weighed(self):
        fit = fit_naming("weights", weights={"H": 1, "E": 3, "T": 0})
        weights_analysed(fit)
        return fit

    def test_are_what_the_page_begins_with(self, client, weighed):
        page = client.get(weights_address(weighed))

        assert SAYS in text(page)
        assert "Dimension E 75 %" in text(page)
        assert re.search(r'name="E" type="number"[^>]* value="3', page.content.decode())
        stored = client.get(address(weighed, "weights", "analysis_json")).json()
        assert stored["is_exploratory"] is True, "equal ones are not the named ones"

    @pytest.mark.parametrize(
        ("query", "is_exploratory"),
        [("?H=2&E=6", False), ("?H=3&E=1", True)],
        ids=["the same ratios", "others"],
    )
    def test_alone_are_confirmatory(self, client, weighed, query, is_exploratory):
        page = client.get(weights_address(weighed, query))
        content = client.get(weights_address(weighed, query, "weighed_json")).json()
        rows = rows_of(client.get(weights_address(weighed, query, "weighed_csv")))

        assert (ASKS in text(page)) is is_exploratory
        assert content["is_exploratory"] is is_exploratory
        assert {row["is_exploratory"] for row in rows} == {str(is_exploratory)}

    def test_of_a_dimension_that_is_not_rated_are_not_shown(self, client):
        fit = fit_naming("weights", weights={"H": 1, "A": 1})
        weights_analysed(fit)

        page = client.get(weights_address(fit))

        assert ASKS in text(page)
        assert "The ranking under these weights" not in text(page)
