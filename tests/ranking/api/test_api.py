"""Ratings and releases in the API: who may know of which, what is said, the bytes of files."""

import hashlib
import io
import zipfile

import pytest
from django.test import Client

from access.choices import Role, Scope
from annotation.models import Study
from ranking.choices import EvaluatorPool
from ranking.models import Fit, Release
from ranking.released.queries import folder_of
from ranking.released.writing import SUMS
from tests.helpers.factories import HOUR, NOW, make_study, make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_fit, make_member, make_release
from tests.helpers.judged import fit_one, make_judged_study, make_study_of_people
from tests.helpers.rated import close
from tests.helpers.released import START, make_kept_release

pytestmark = pytest.mark.django_db


def get(client, study, query=""):
    return client.get(f"/api/v1/studies/{study}/ratings/{query}")


@pytest.fixture(scope="module")
def kept(module_rows):
    """A study with ratings by judges, and by everybody."""
    systems = [make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")]
    study = make_judged_study(systems=systems, with_llm=True, verdict=lambda *_: 1)
    for pool in (EvaluatorPool.LLM, EvaluatorPool.COMBINED):
        fit_one(study, NOW + HOUR, pool)
    return close(study).pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


class TestRatings:
    def test_gives_the_newest_ratings_field_by_field_with_their_conditions(
        self, client, study, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(9):  # as the page
            answer = get(client, study.slug, "?pool=llm").json()

        fit = Fit.objects.get(pool="LLM", context_set="ALL")
        assert set(answer) == {
            "study", "fit", "is_implied", "is_embargoed", "refusal", "components", "joining",
            "conditions", "ratings", "people", "people_refused", "analyses",
        }  # fmt: skip
        assert (answer["study"], answer["fit"], answer["refusal"]) == (study.slug, fit.key, "")
        conditions = {"n_judgments": 4, "inputs_hash": fit.inputs_hash, "is_simulated": False}
        assert answer["conditions"].items() >= conditions.items()
        best = answer["ratings"][0]
        assert set(best) == {
            "system", "name", "kind", "is_simulated", "tier", "rank", "rank_low", "rank_high",
            "elo", "elo_se", "elo_low", "elo_high", "joint_low", "joint_high", "sandwich_se",
            "win_per_cent",
            "n_judgments", "wins", "losses", "ties", "dimensions",
        }  # fmt: skip
        assert (best["system"], best["rank"], best["win_per_cent"]) == ("ash", 1, 100.0)
        marks = {"key": "H", "name": "Dimension H", "per_cent": 100.0, "n_marks": 4}
        assert best["dimensions"][0] == marks

    def test_names_what_is_made_from_people_as_derived(self, client):
        study = make_study_of_people()
        fit_one(close(study), NOW + HOUR)

        answer = get(client, study.slug).json()

        assert len(answer["ratings"]) == 3
        derived = ["AVERAGE", "MEAN_TEXT", "RANDOM_TEXT", "BEST_CROSS_FITTED", "BEST_PLAIN"]
        assert [one["derived"] for one in answer["people"]] == derived
        assert set(answer["people"][0]) == {
            "derived", "name", "elo", "elo_se", "elo_low", "elo_high", "is_optimistic",
            "n_judgments", "n_contexts", "contexts", "opponents_per_text",
        }  # fmt: skip
        assert [one["is_optimistic"] for one in answer["people"]] == [False] * 4 + [True]
        assert answer["people_refused"] == []

    def test_says_what_of_people_could_not_be_rated(self, client):
        study = make_study_of_people(n_raters=1)
        fit_one(close(study), NOW + HOUR)

        (refused,) = get(client, study.slug).json()["people_refused"]

        assert refused["derived"] == "BEST_CROSS_FITTED"
        assert "One evaluator" in refused["reason"]

    def test_says_why_there_are_none(self, client, study):
        others = [make_system(), make_system()]
        make_judged_study(systems=others, study=study)
        fit_one(study, NOW + HOUR, EvaluatorPool.HUMAN)

        answer = get(client, study.slug, "?pool=human").json()

        assert answer["ratings"] == []
        assert "2 groups" in answer["refusal"]
        assert answer["components"][0] == ["Ash", "Beech"]
        assert [set(pair) for pair in answer["joining"]] == [{"winner", "loser", "is_either_way"}]
        assert answer["joining"][0]["is_either_way"] is True

    @pytest.mark.parametrize(
        ("slug", "query", "status", "code"),
        [
            ("nothing", "", 404, "not_found"),
            ("empty", "", 404, "no_fit"),
            ("empty", "?pool=martians", 400, "unknown_filter"),
        ],
    )
    def test_refuses_by_name(self, slug, query, status, code, client):
        make_study(slug="empty")

        response = get(client, slug, query)

        assert response.status_code == status
        assert response.json()["code"] == code
        assert response.json()["detail"]


@pytest.fixture
def release(settings, tmp_path) -> Release:
    settings.HEART_DATA_DIR = tmp_path / "kept"
    return make_kept_release(make_study(), published_at=START)


def read(release, path="", *, secret="", **headers):
    address = f"/api/v1/studies/{release.study.slug}/releases/{path}"
    return Client().get(address, headers=headers | (bearing(secret) if secret else {}))


def body(answer):
    return b"".join(answer.streaming_content)


def test_anybody_reads_what_is_published_and_the_team_all(release):
    own = make_release(study=release.study)
    secret = make_secret(Scope.READ_RELEASES)

    public = [one["release"] for one in read(release).json()["results"]]
    every = [one["release"] for one in read(release, secret=secret).json()["results"]]

    assert (public, every) == ([release.key], [release.key, own.key])
    for path in (f"{own.key}/", f"{own.key}/archive/", f"{own.key}/files/README.md"):
        assert read(release, path).status_code == 404
    assert read(release, f"{own.key}/", secret=secret).json()["state"] == "BUILDING"


def test_a_token_needs_the_scope_and_an_analyst_no_token(release, client):
    others = make_secret(*(one for one in Scope if one != Scope.READ_RELEASES))
    client.force_login(make_member(role=Role.ANALYST))

    assert read(release, secret=others).status_code == 403
    assert client.get(f"/api/v1/studies/{release.study.slug}/releases/").status_code == 200


def test_files_are_listed_with_what_holds_them_together(release):
    said = read(release, f"{release.key}/").json()

    assert said["checksums_sha256"] == release.manifest_hash
    assert {one["path"] for one in said["files"]} == {"README.md", SUMS}
    for one in said["files"]:
        content = body(read(release, f"{release.key}/files/{one['path']}"))
        assert (len(content), hashlib.sha256(content).hexdigest()) == (one["size"], one["sha256"])


def test_nothing_beside_a_release_is_handed_out(release, settings):
    (settings.HEART_DATA_DIR / "secret.txt").write_text("no")
    folder = settings.HEART_DATA_DIR / "releases" / release.study.slug / release.key
    (folder / "unlisted.txt").write_text("no")

    for path in ("unlisted.txt", "../../../secret.txt", "%2e%2e/%2e%2e/%2e%2e/secret.txt", "\x00"):
        assert read(release, f"{release.key}/files/{path}").status_code == 404
    archive = io.BytesIO(body(read(release, f"{release.key}/archive/")))
    assert not any("unlisted" in name for name in zipfile.ZipFile(archive).namelist())


@pytest.mark.parametrize("name", ["README.md", SUMS])
def test_of_a_release_with_a_file_too_few_nothing_is_handed_out(release, name):
    (folder_of(release) / name).unlink()

    assert handed_out(release) == ([], {404})


def test_of_a_release_whose_list_is_not_the_one_that_was_built_nothing_is_handed_out(release):
    (folder_of(release) / SUMS).write_text(f"{'0' * 64}  README.md\n", encoding="utf-8")

    assert handed_out(release) == ([], {404})


def handed_out(release):
    """The files that are listed, and the answers of the addresses of files."""
    paths = ("archive/", f"files/{SUMS}", "files/README.md")
    codes = {read(release, f"{release.key}/{path}").status_code for path in paths}
    return read(release, f"{release.key}/").json()["files"], codes


def test_the_archive_has_all_files_and_is_not_sent_twice(release):
    answer = read(release, f"{release.key}/archive/", accept="application/zip")

    with zipfile.ZipFile(io.BytesIO(body(answer))) as packed:
        assert len(packed.namelist()) == 2
    again = Client().get(answer.wsgi_request.path, headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304


def test_files_that_are_not_here_are_no_fault(release, settings, tmp_path):
    settings.HEART_DATA_DIR = tmp_path / "elsewhere"

    assert read(release, f"{release.key}/").json()["files"] == []
    assert read(release, f"{release.key}/archive/").status_code == 404


def test_a_fit_lists_its_analyses(client):
    fit = make_fit(state="DONE", ended_at=START, published_at=START)
    address = f"/api/v1/studies/{fit.study.slug}/fits/{fit.key}/analyses/"

    assert client.get(address).json() == {"results": []}
    assert client.get(address.replace(fit.key, "none")).status_code == 404
