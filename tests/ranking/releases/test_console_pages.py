"""The console's page of releases: what one would hold, building it, downloading, publishing."""

import io
import shutil
import zipfile

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import background
from access.choices import Role
from access.models import LogEntry
from annotation.choices import RaterState
from annotation.models import Rater
from annotation.raters.services.withdrawing import withdraw_writer
from ranking import figures, tasks
from ranking.choices import ReleaseState
from ranking.models import Release
from ranking.release_check.verifying import verify
from ranking.released import queries as released_queries
from ranking.released.writing import SUMS, sha256_of
from ranking.releases import services as release_services
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_judgment,
    make_rater,
    make_study,
)
from tests.helpers.factories_written_once import make_exclusion, make_member
from tests.helpers.pages import text
from tests.helpers.released import START, make_kept_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def begun(monkeypatch):
    """The releases that were handed to a worker, who draws nothing."""
    keys = []
    monkeypatch.setattr(figures, "rendered", lambda *_: b"<svg/>")
    monkeypatch.setattr(background, "hand_over", lambda _task, release_id: keys.append(release_id))
    monkeypatch.setattr(tasks.build_release, "delay", lambda *, release_id: keys.append(release_id))
    return keys


def sign_in(client, role):
    client.force_login(make_member(role=role))


def address(name, study, *parts):
    return reverse(f"raters:{name}", args=[study.slug, *parts])


def test_the_page_says_what_a_release_will_hold_and_what_waits(client, study):
    sign_in(client, Role.MANAGER)

    page = client.get(address("release", study)).content.decode()

    assert "Build a release" in page
    assert "4 raters" in page
    assert "not scanned yet" in page


def test_a_study_without_ratings_says_why_there_is_no_button(client):
    study = make_study()
    sign_in(client, Role.MANAGER)

    page = client.get(address("release", study)).content.decode()

    assert "no ratings to release yet" in page
    assert "Build a release" not in page


def test_the_button_hands_one_release_to_a_worker_who_builds_it_once(
    client, study, begun, tmp_path
):
    sign_in(client, Role.MANAGER)

    for _ in range(2):
        client.post(address("build_release", study))
    for key in begun:
        tasks.build_release(release_id=key)

    release = Release.objects.get()
    assert begun == [release.pk] * 2
    assert release.state == ReleaseState.DONE
    assert verify(released_queries.folder_of(release), is_quick=True).is_sound
    answer = client.get(address("release_zip", study, release.key))
    content = b"".join(answer.streaming_content)
    again = b"".join(client.get(address("release_zip", study, release.key)).streaming_content)
    assert content == again
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        packed.extractall(tmp_path)
    assert verify(next(tmp_path.glob("*-rel-*")), is_quick=True).is_sound


@pytest.mark.parametrize("lost", ["", "README.md", SUMS])
def test_the_button_has_a_release_whose_files_are_lost_built_again(client, study, begun, lost):
    release = release_services.claim_release(study=study, now=START)
    release_services.run_release(release_id=release.pk, clock=lambda: START)
    folder = released_queries.folder_of(release)
    (folder / lost).unlink() if lost else shutil.rmtree(folder)
    sign_in(client, Role.MANAGER)

    client.post(address("build_release", study))
    for key in begun:
        tasks.build_release(release_id=key)

    release.refresh_from_db()
    assert (release.state, release.begun, release.step) == (ReleaseState.DONE, 1, "")
    assert sha256_of(folder / SUMS) == release.manifest_hash
    assert (folder / "README.md").exists()


def test_results_lead_to_what_is_published_until_it_is_taken_back(client):
    study = make_study()
    release = make_kept_release(study)
    results = reverse("ranking:leaderboard", args=[study.slug])
    packed = reverse("ranking:release_zip", args=[study.slug, release.key])
    sign_in(client, Role.OWNER)
    seen = []
    for act in ("publish_release", "unpublish_release", "unpublish_release"):
        client.post(address(act, study, release.key))
        page, answer = Client().get(results).content.decode(), Client().get(packed)
        seen.append((packed in page, answer.status_code))

    assert seen == [(True, 200), (False, 404), (False, 404)]
    acts = LogEntry.objects.filter(action__startswith="release.").order_by("pk")
    assert [one.action for one in acts] == ["release.published", "release.unpublished"]


def withdraw(rater):
    ended = {"state": RaterState.WITHDRAWN, "ended_at": timezone.now(), "data_kept": False}
    Rater.objects.filter(pk=rater.pk).update(**ended)


def one_who_judged(study):
    withdraw(make_judgment(comparison=study.comparisons.first()).rater)


def one_who_judged_after_it(study):
    later = dict.fromkeys(("shown_at", "submitted_at"), timezone.now())
    withdraw(make_judgment(comparison=study.comparisons.first(), **later).rater)


def one_who_judged_nothing(study):
    withdraw(make_rater(study=study))


def one_who_was_left_out(study):
    withdraw(make_exclusion(rater=make_rater(study=study)).rater)


def a_writer_of_three_texts_of_which_two_are_compared(study):
    text = study.comparisons.filter(first__writer__isnull=False).first().first
    other, _beside = (
        make_completion(
            context=make_context(dataset=study.dataset), system=text.system, writer=text.writer
        )
        for _ in range(2)
    )
    rival = make_completion(context=other.context)
    make_comparison(study=study, first=other, second=rival)
    withdraw_writer(writer=text.writer, keep_texts=False, now=timezone.now())


@pytest.mark.parametrize(
    ("leave", "n"),
    [
        (one_who_judged, 1),
        (one_who_judged_after_it, 0),
        (one_who_judged_nothing, 0),
        (one_who_was_left_out, 1),
        (a_writer_of_three_texts_of_which_two_are_compared, 2),
    ],
)
def test_a_release_is_stale_by_who_or_what_is_in_it_and_left_since(client, study, leave, n):
    release = make_kept_release(study, as_of=START)
    publish = address("publish_release", study, release.key)
    leave(study)
    sign_in(client, Role.OWNER)

    page = client.get(address("release", study)).content.decode()
    answer = client.post(publish, follow=True)

    assert ("stale" in page) is (publish not in page) is (n > 0)
    assert ("left since: build another" in answer.content.decode()) is (n > 0)
    release.refresh_from_db()
    assert (release.published_at is None) is (n > 0)
    assert ("1 person or text left" in page, "2 people or texts" in page) == (n == 1, n == 2)


@pytest.mark.parametrize(
    ("leave", "is_stale"), [(one_who_judged, True), (one_who_judged_after_it, False)]
)
def test_a_published_release_that_is_stale_says_so_to_its_readers(client, study, leave, is_stale):
    release = make_kept_release(study, as_of=START)
    Release.objects.filter(pk=release.pk).update(published_at=START)
    leave(study)

    shown = text(client.get(reverse("ranking:leaderboard", args=[study.slug])))

    assert "Download the release" in shown
    assert ("Data in this release has since been withdrawn" in shown) is is_stale


def test_judgments_that_came_since_the_ratings_ask_for_a_refit(client, study, begun):
    study.fits.update(diagnostics={"stamp": "1:1:0:1"})
    sign_in(client, Role.MANAGER)

    answer = client.post(address("build_release", study), follow=True)

    assert "Refit" in answer.content.decode()
    assert begun == []
