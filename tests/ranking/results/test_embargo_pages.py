"""Until a study is closed, what follows from its judgments reaches its team alone.

The attack: a rater gives an answer, reads the results before and after, and learns from what
moved who wrote both replies.
"""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access.choices import Role, Scope
from access.models import LogEntry
from annotation.models import Study
from ranking.choices import AnalysisKind, EvaluatorPool, FitState
from ranking.fits import services
from ranking.fits.services.inputs import orders_beside
from ranking.models import Fit
from tests.heart_site.permissions import TABLE
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_analysis, make_member, make_user
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.rated import close, make_findings, make_rated_fit
from tests.helpers.visits import ANSWERS, enrol, study_content, url

pytestmark = pytest.mark.django_db
OF_STUDIES = [
    route
    for route, rule in TABLE.items()
    if "GET anyone" in rule and route.startswith(("results/", "api/v1/studies/"))
] + [""]
PART = re.compile(r"<(?:\w+:)?(\w+)>")


def paths(study, fit):
    """Return every public address about the study, and about that fit and its analysis."""
    values = {"study": study.slug, "key": fit.key, "kind": "style", "table": "matrix"}
    values |= {"form": "svg", "release": "rel-0", "path": "README.md"}
    return ["/" + PART.sub(lambda part: values[part[1]], route) for route in OF_STUDIES]


def said(client, path):
    """Return what an answer tells: its status, body and every header but those of its own."""
    response = client.get(path)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    own = {"Content-Security-Policy", "X-Request-ID"}
    if response.status_code == 404:  # whose body names the request
        own.add("ETag")
    headers = {name: value for name, value in response.items() if name not in own}
    return response.status_code, re.sub(rb'"request_id":"\w+"', b"", body), headers


@pytest.fixture(scope="module")
def kept(module_rows):
    """Return the keys of an open study with ratings and an analysis, and of its newest fit."""
    content = study_content() | {"results": {}}  # no minimum keeps ratings back, too
    study = make_judged_study(study=make_study(content=content), with_llm=True)
    fit = fit_one(study, NOW + HOUR, EvaluatorPool.HUMAN)
    fit_one(study, NOW + HOUR)
    done = {"state": FitState.DONE, "ended_at": NOW + HOUR, "result": make_findings().as_json()}
    make_analysis(fit=fit, kind=AnalysisKind.STYLE, **done)
    return study.pk, fit.pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept[0])


@pytest.fixture
def fit(kept):
    return Fit.objects.select_related("study").get(pk=kept[1])


@pytest.fixture
def owner(client):
    user = make_member(role=Role.OWNER)
    client.force_login(user)
    return user


def publish(fit):
    assert services.publish_fit(fit=fit, now=NOW + 2 * HOUR, by=make_member())


def judge_on(study):
    """Have a rater come in and answer by the pages, and the ratings follow; return the fits."""
    rater, visitor = enrol(client := Client(), study), client
    visitor.get(url(study, "judge"))
    lease = rater.leases.get(closed_at=None)
    visitor.post(url(study, "submit", lease.token), ANSWERS["preference"])
    assert rater.judgments.count() == 1
    later = timezone.now() + HOUR
    return [fit_one(study, later, pool) for pool in (EvaluatorPool.HUMAN, EvaluatorPool.COMBINED)]


class TestStrangers:
    @pytest.mark.parametrize("is_published", [False, True])
    def test_learn_nothing_from_what_an_answer_moves(self, study, fit, is_published):
        if is_published:
            publish(fit)
        watcher = Client()
        before = {path: said(watcher, path) for path in paths(study, fit)}

        newer = judge_on(study)

        assert newer[0].n_judgments == fit.n_judgments + 1
        for path, answered in before.items():
            assert said(watcher, path) == answered, path
        for one in newer:
            for path in set(paths(study, one)) - before.keys():
                assert said(watcher, path)[0] == 404, path

    def test_find_no_word_of_a_fit_that_is_not_published(self, client, study, fit):
        for path in paths(study, fit):
            status, body, _headers = said(client, path)
            assert fit.key.encode() not in body or status == 404, path

    def test_read_why_and_when_they_will(self, client, study):
        page = client.get(reverse("ranking:leaderboard", args=[study.slug])).content.decode()

        assert "Results appear when the study is closed" in page
        problem = client.get(f"/api/v1/studies/{study.slug}/ratings/")
        assert problem.status_code == 404
        assert "kept back" in problem.json()["detail"]

    def test_read_all_once_the_study_is_closed(self, client, study, fit):
        close(study)

        found = {path: said(client, path)[0] for path in paths(study, fit)}

        assert {path for path, status in found.items() if status != 200} == {
            path for path in found if "rel-0" in path or "/weights/" in path or "/x1" in path
            or path.endswith(f"/releases/{fit.key}.zip")
        }  # fmt: skip

    @pytest.mark.parametrize("state", ["PAUSED", "OPEN", "LOCKED", "DRAFT"])
    @pytest.mark.parametrize("is_user", [False, True], ids=["nobody", "no member"])
    def test_read_nothing_in_any_state_before_that(self, client, study, fit, state, is_user):
        Study.objects.filter(pk=study.pk).update(state=state)
        if is_user:
            client.force_login(make_user())

        assert client.get(reverse("ranking:fit", args=[study.slug, fit.key])).status_code == 404

    def test_are_not_told_of_a_draft(self, client, study, fit):
        draft = {"state": "DRAFT", "locked_at": None, "protocol_hash": ""}
        Study.objects.filter(pk=study.pk).update(**draft)

        for path in paths(study, fit):
            status, body, _headers = said(client, path)
            assert study.title.encode() not in body, path
            assert status == 404 or study.slug not in path, path


class TestTheTeam:
    def test_reads_all_and_that_it_is_embargoed(self, client, owner, study, fit):
        for name, more in (
            ("leaderboard", []),
            ("fit", [fit.key]),
            ("analysis", [fit.key, "style"]),
        ):
            page = client.get(reverse(f"ranking:{name}", args=[study.slug, *more]))
            assert "<strong>Embargoed.</strong>" in page.content.decode(), name
            assert page["Cache-Control"] == "private, no-store"
            assert "Cookie" in page["Vary"]

    def test_downloads_say_it_in_name_and_content(self, client, owner, study, fit):
        of_fit = [study.slug, fit.key]
        table = client.get(reverse("ranking:ratings_csv", args=of_fit))
        content = client.get(reverse("ranking:ratings_json", args=of_fit))
        figure = client.get(reverse("ranking:ratings_figure", args=[*of_fit, "svg"]))

        for response in (table, content, figure):
            assert 'filename="embargoed-' in response["Content-Disposition"]
            assert response["Cache-Control"] == "private, no-store"
        assert content.json()["is_embargoed"] is True
        assert b"embargoed: for the study" in figure.content

    def test_reads_with_a_token_and_is_told(self, client, study, fit):
        secret = bearing(make_secret(Scope.READ_STUDIES))
        address = f"/api/v1/studies/{study.slug}"

        one = client.get(f"{address}/ratings/", headers=secret).json()
        every = client.get(f"{address}/fits/", headers=secret).json()["results"]

        assert one["is_embargoed"] is True
        assert {row["is_embargoed"] for row in every} == {True}

    def test_sees_published_fits_without_the_mark(self, client, owner, study, fit):
        publish(fit)

        page = client.get(reverse("ranking:fit", args=[study.slug, fit.key])).content.decode()

        assert "Embargoed" not in page
        assert "Published on 5 Jan 2026." in page


class TestPublishing:
    def url(self, fit, name="publish_fit"):
        return reverse(f"raters:{name}", args=[fit.study.slug, fit.key])

    def test_asks_first_and_says_what_follows(self, client, owner, fit):
        page = client.get(self.url(fit)).content.decode()

        assert "The study is still running, and raters will be able to read this." in page
        assert Fit.objects.get(pk=fit.pk).published_at is None

    def test_lets_everybody_read_that_fit_until_it_is_taken_back_and_is_logged(
        self, client, owner, fit
    ):
        stranger = Client()
        client.post(self.url(fit))

        page = stranger.get(reverse("ranking:leaderboard", args=[fit.study.slug]))
        assert fit.key in page.content.decode()
        entry = LogEntry.objects.get(action="fit.published")
        assert (entry.by, entry.subject) == (owner, f"fit {fit.key} of study {fit.study.slug}")
        assert entry.after == {"study_state": "OPEN", "n_judgments": fit.n_judgments}

        client.post(self.url(fit, "unpublish_fit"))

        page = stranger.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))
        assert page.status_code == 404
        assert LogEntry.objects.filter(action="fit.unpublished").count() == 1

    def test_names_the_fits_that_are_public_already(self, client, owner, fit):
        publish(fit)
        (newer, _every) = judge_on(fit.study)

        assert "1 earlier fit of the same judgments" in client.get(self.url(newer)).content.decode()

    def test_is_offered_to_owners_alone_and_only_while_it_matters(self, client, owner, fit):
        listed = reverse("raters:fits", args=[fit.study.slug])
        assert self.url(fit) in client.get(listed).content.decode()

        analyst = Client()
        analyst.force_login(make_member(role=Role.MANAGER))
        assert self.url(fit) not in analyst.get(listed).content.decode()
        close(fit.study)
        assert self.url(fit) not in client.get(listed).content.decode()


def test_an_analysis_of_another_study_holds_only_what_is_public_of_this_one(study, fit):
    other = make_study(dataset=study.dataset)
    beside = make_rated_fit(study=other, pool=fit.pool)

    assert orders_beside(beside) == ()
    publish(fit)
    assert [one.fit for one in orders_beside(beside)] == [fit.key]
