"""Releases in the API: who may know of which, what is said, and the bytes of their files."""

import hashlib
import io
import zipfile

import pytest
from django.test import Client

from access.choices import Role, Scope
from ranking.models import Release
from ranking.released.writing import SUMS
from tests.helpers.factories import make_study
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_fit, make_member, make_release
from tests.helpers.released import START, make_kept_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def release() -> Release:
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
