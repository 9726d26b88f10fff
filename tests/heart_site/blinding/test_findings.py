"""Pages without their texts, what is found to tell the source in them, and how it is told.

Also results that a rater could read beside the study, and what the audit says of them.
"""

import uuid

import numpy as np
import pytest
import scipy

from annotation.choices import Platform
from annotation.models import Judgment, Rater, Study
from heart_site.blinding import odds, replaying
from heart_site.blinding.odds import Test as One
from heart_site.blinding.reporting import lines, verdicts
from ranking.choices import EvaluatorPool
from ranking.fits import queries, services
from ranking.models import Fit, Rating
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_written_once import make_member, make_release
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.rated import close


def test_tokens_and_secrets_are_drawn_anew_and_left_out():
    first, second = (
        f'<form action="/{uuid.uuid4()}/"><input name="csrfmiddlewaretoken" value="{n}">'
        for n in range(2)
    )

    assert first != second
    assert replaying.without_chance(first) == replaying.without_chance(second)


def test_tags_are_alike_but_for_their_numbers():
    page = '<p id="t1">2</p><p id="t20"><br></p>'

    assert replaying.tags_of(page) == {
        '<p id="t#">': (2, (1,)),
        "<br>": (1, ()),
    }


def test_a_number_that_is_no_token_stays():
    assert "12345678" in replaying.without_chance('<p id="12345678">')


def test_texts_are_replaced_where_they_are_whole_paragraphs():
    page = "<p>a &lt;b&gt;</p><p>kept: a &lt;b&gt;</p>"

    assert replaying.without_texts(page, ["a <b>"], blank="-") == "<p>-</p><p>kept: a &lt;b&gt;</p>"


def test_equal_texts_are_replaced_one_by_one():
    assert replaying.without_texts("<p>x</p><p>x</p>", ["x", "x"], blank="-") == "<p>-</p><p>-</p>"


@pytest.mark.parametrize(
    ("page", "is_there"),
    [
        ("<i>Alder</i>", True),
        ('<i data-x="alder">', True),
        ("<i>alderman</i>", False),
        ("<i>an-alder</i>", False),
        ("<i>ald</i>", False),
    ],
)
def test_names_are_found_as_words(page, is_there):
    assert replaying.names_in(page, ["alder", "ald"]) == (["alder"] if is_there else [])


def generator(seed=1):
    return np.random.default_rng(seed)


class TestSides:
    @pytest.mark.parametrize(("as_a", "as_b"), [(3, 3), (0, 12), (40, 60)])
    def test_agrees_with_the_binomial_distribution(self, as_a, as_b):
        n = as_a + as_b
        chance = scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5)
        expected = chance[chance <= chance[as_a] * (1 + 1e-9)].sum()

        assert odds.sides("x", as_a=as_a, as_b=as_b).p_value == pytest.approx(expected)

    def test_a_source_always_on_one_side_tells(self):
        assert [one.what for one in odds.significant([odds.sides("x", as_a=30, as_b=0)])] == ["x"]


class TestOrdering:
    def test_the_area_is_the_share_of_pairs_in_order(self):
        values, is_person = np.array([1.0, 2, 2, 5, 4]), np.array([False, True, False, True, False])
        pairs = [(a > b) + (a == b) / 2 for a in values[is_person] for b in values[~is_person]]

        assert odds.ordering("x", values, is_person).value == pytest.approx(np.mean(pairs))

    def test_what_follows_the_source_tells(self):
        is_person = np.arange(60) % 2 == 0

        assert odds.significant([odds.ordering("x", is_person * 1.0, is_person)])


class TestGuessing:
    def guess(self, knows, n_raters=40, seed=1):
        rng = generator(seed)
        rater = np.repeat(np.arange(n_raters), 6)
        is_person = rng.random(len(rater)) < 0.5
        lean = np.repeat(rng.random(n_raters), 6)  # raters differ in what they say anyway
        said = np.where(rng.random(len(rater)) < knows, is_person, rng.random(len(rater)) < lean)
        return odds.guessing(rater, is_person, said, rng=generator())

    def test_raters_who_know_are_seen(self):
        assert self.guess(0.5).p_value <= 1 / 1000

    @pytest.mark.parametrize("n_studies", [10, pytest.param(40, marks=pytest.mark.full)])
    def test_raters_who_do_not_are_within_chance(self, n_studies):
        p_values = [self.guess(0.0, seed=seed).p_value for seed in range(n_studies)]

        assert np.mean(np.array(p_values) < 0.05) <= 0.15  # one in twenty, and its scatter
        assert 0.3 < np.mean(p_values) < 0.7

    def test_the_interval_holds_what_half_of_the_knowing_comes_to(self):
        found = self.guess(0.5)
        low, high = found.interval

        assert low < found.value < high
        assert low < 0.75 < high  # those who know are right, and half of the others
        assert high - low < 0.2

    def test_who_says_the_same_of_everything_tells_nothing(self):
        rater = np.repeat(np.arange(10), 4)
        is_person = rater < 5  # and saw only people, or only programs
        found = odds.guessing(rater, is_person, rater < 5, rng=generator())

        assert found.value == 1.0
        assert found.chance == 1.0
        assert found.p_value == 1.0


class TestErrorRate:
    @pytest.mark.parametrize(
        ("n_studies", "most"),
        [
            (60, 3),  # 0.6 are to be expected; four come in less than one of 100 runs
            pytest.param(600, 12, marks=pytest.mark.full),  # six, and thirteen
        ],
    )
    def test_a_study_that_tells_nothing_passes_but_for_one_in_a_hundred(self, n_studies, most):
        rng = generator()
        n_false = 0
        for _ in range(n_studies):
            is_person = rng.random(60) < 0.5
            tests = [
                *(odds.sides("x", as_a=int(a), as_b=60 - int(a)) for a in rng.binomial(60, 0.5, 4)),
                *(odds.ordering("y", rng.random(60), is_person) for _ in range(4)),
                *(odds.ordering("z", rng.integers(0, 5, 60) * 1.0, is_person) for _ in range(4)),
            ]
            n_false += bool(odds.significant(tests))

        assert n_false <= most


class TestTelling:
    def test_many_tests_together_are_held_to_one_level(self):
        tests = [One(str(n), 10, 0.6, 0.5, 0.004) for n in range(3)]

        assert odds.significant(tests[:1]) == tests[:1]
        assert odds.significant(tests) == []

    def test_no_tests_tell_nothing(self):
        assert odds.significant([]) == []


REPORT = {
    "n_pages": 30,
    "n_leases": 35,
    "faults": {},
    "tests": [],
    "telling": [],
    "texts": [],
    "guesses": None,
    "is_simulated": False,
    "holds": True,
}


def found(what, p_value):
    return {"what": what, "n": 30, "value": 0.5, "chance": 0.5, "p_value": p_value}


TOKEN = found("token of the lease", 0.7)
LIST = found("how often <ol> stands there", 0.4)
ITEM = found("how often <li> stands there", 0.02)
MARK = found("number 1 of <i data-of='#'>", 0.0)


def test_tags_that_tell_nothing_are_one_line_and_the_least_likely_stands_for_them():
    shown = verdicts(REPORT | {"tests": [LIST, TOKEN, ITEM]})

    assert [(one["what"], one["p_value"]) for one in shown] == [
        ("token of the lease", 0.7),
        ("tags of the page: the most telling of 2 counts and numbers", 0.02),
    ]


def test_a_tag_that_tells_comes_first_and_by_itself():
    shown = verdicts(REPORT | {"tests": [TOKEN, LIST, MARK], "telling": [MARK["what"]]})

    assert [one["what"] for one in shown if one["tells"]] == [shown[0]["what"]] == [MARK["what"]]
    assert len(shown) == 3


def test_a_long_name_does_not_widen_the_table():
    name = f"how often <form {'hx-post ' * 40}> stands there"

    said = lines(REPORT | {"tests": [found(name, 0.0)], "telling": [name], "holds": False})

    assert max(map(len, said)) < 130
    assert any("how often <form" in line and line.endswith("TELLS") for line in said)


def test_a_study_that_nobody_judged_is_not_called_blinded():
    said = lines(REPORT | {"n_pages": 0, "n_leases": 0})

    assert said[-1] == "No pair was handed out yet: there is nothing to audit."


LATER = NOW + 3 * HOUR
ROWS = (Judgment, Rater, Fit, Rating)


@pytest.fixture(scope="module")
def kept(module_rows):
    """Return the key of an open study with ratings by people and by everybody."""
    study = make_judged_study(with_llm=True)
    for pool in (EvaluatorPool.HUMAN, EvaluatorPool.COMBINED):
        fit_one(study, NOW + HOUR, pool)
    make_release(study=study)
    return study.pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def publish(study, pool=EvaluatorPool.HUMAN):
    fit = study.fits.filter(pool=pool).latest("as_of")
    services.publish_fit(fit=fit, now=LATER, by=make_member())
    return fit


@pytest.mark.django_db
class TestOracles:
    def test_there_is_none_while_results_are_kept_back_and_nothing_is_left_behind(self, study):
        counts = [model.objects.count() for model in ROWS]

        assert replaying.oracles(study, now=LATER) == []
        assert [model.objects.count() for model in ROWS] == counts

    def test_are_looked_for_where_raters_came_from_a_browser_or_a_platform(self, study):
        for rater in Rater.objects.filter(study=study):
            rater.bound_by, rater.external_id = f"form-{rater.pk}", f"person-{rater.pk}"
            rater.platform = Platform.PROLIFIC
            rater.save()

        assert replaying.oracles(study, now=LATER) == []

    def test_one_that_is_opened_is_named_by_its_addresses(self, study, monkeypatch):
        monkeypatch.setattr(queries.Results, "has_all", True)

        found = " ".join(replaying.oracles(study, now=LATER))

        for path in ("results/{}/", "results/{}/history.csv", "results/{}/verdicts/"):
            assert f"/{path.format(study.slug)} changes" in found
        for path in ("ratings/", "fits/"):
            assert f"/api/v1/studies/{study.slug}/{path} changes" in found

    def test_are_looked_for_in_moments_in_which_no_rater_waits_for_long(self, study, monkeypatch):
        n_read, read = [], replaying._read

        def count(paths):
            n_read.append(len(paths))
            return read(paths)

        monkeypatch.setattr(replaying, "AT_ONCE", 4)
        monkeypatch.setattr(replaying, "_read", count)

        replaying.oracles(study, now=LATER)

        at_once = n_read[1:]  # the first are those that an answer makes
        assert set(at_once) <= {1, 2, 3, 4}
        assert sum(at_once) == 2 * len(replaying._paths(study)) > 50

    def test_published_fits_of_two_selections_are_told_and_are_none(self, study):
        fits = [publish(study), publish(study, EvaluatorPool.COMBINED)]

        assert replaying.oracles(study, now=LATER) == []
        told = [one.partition(",")[0] for one in replaying.publications(study)]
        assert told == [f"{fit.key} ({fit.n_judgments} judgments" for fit in fits]

    def test_two_published_fits_are_one_by_their_difference(self, study):
        first = publish(study)
        make_judged_study(study=study)
        fit_one(study, LATER, EvaluatorPool.HUMAN)
        second = publish(study)

        (said,) = replaying.oracles(study, now=LATER)
        assert first.key in said
        assert second.key in said

    def test_a_closed_study_has_none(self, study, monkeypatch):
        monkeypatch.setattr(queries.Results, "has_all", True)
        publish(study)
        close(study)

        assert replaying.oracles(study, now=LATER) == []
        assert replaying.publications(study) == []
