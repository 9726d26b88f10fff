"""Building releases: what makes another, what stops one, and judgments made elsewhere in them."""

import errno
import os
from collections import Counter
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from access.background import TOO_LONG
from annotation.choices import Purpose, RaterState, TextOutcome
from annotation.models import Comparison, Judgment, QualityCheck, Rater
from annotation.raters.services.withdrawing import withdraw_rater, withdraw_writer
from annotation.rationales.services.scanning import TextWords, decide_rationale, scan_rationales
from completions.choices import SystemKind
from completions.management.acting import RefusedError
from completions.models import Completion, System
from completions.runs.services import exclusive
from ranking import figures, tasks
from ranking.choices import ReleaseState
from ranking.fits import services as fit_services
from ranking.models import Release
from ranking.release_check import verifying
from ranking.release_check.verifying import verify
from ranking.released.queries import folder_of
from ranking.released.writing import line
from ranking.releases import building, queries
from ranking.releases import services as release_services
from ranking.releases.contents import contents_of
from tests.helpers.factories import (
    HOUR,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_rater,
)
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.factories_written_once import make_release, make_user
from tests.helpers.released import START, build, forge_sums
from tests.helpers.threads import doing_elsewhere
from tests.ranking.releases.tampering import rows

pytestmark = pytest.mark.django_db
ROWS, BATCHES = "data/external_judgments.jsonl", "data/external_batches.jsonl"


def reason_of(study):
    return Judgment.objects.filter(comparison__study=study, rater__isnull=False).first()


def mask(judgment, *also):
    words = TextWords(TextOutcome.MASKED, also=also)
    study = judgment.comparison.study
    decide_rationale(study=study, judgment=judgment.pk, words=words, by=make_user(), now=START)


def mask_more(study):
    mask(reason_of(study), "Unit 7")


def change_a_system(study, **fields):
    slug = study.comparisons.first().first.system.slug
    System.objects.filter(slug=slug).update(**fields)


def rename_a_system(study):
    change_a_system(study, name="Another name")


def learn_a_fact(study):
    change_a_system(study, facts={"intelligence_index": {"value": 47, "source": "x"}})


def rest_a_check(study):
    QualityCheck.objects.filter(comparison__study=study).update(is_active=False)


class TestBuilding:
    @pytest.mark.parametrize("change", [mask_more, rename_a_system, learn_a_fact, rest_a_check])
    def test_a_change_of_what_leaves_is_another_state(self, study, change):
        said = "Ann of Unit 7 wrote to bob@example.com."
        QuerySet(Judgment).filter(pk=reason_of(study).pk).update(rationale=said)
        scan_rationales(study=study, clock=lambda: START)
        mask(reason_of(study))
        make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK))
        first = release_services.claim_release(study=study, now=START)
        ended = {"state": ReleaseState.REFUSED, "refusal": "No room.", "ended_at": START}
        Release.objects.filter(pk=first.pk).update(**ended)

        change(study)

        assert release_services.claim_release(study=study, now=START).key != first.key

    @pytest.mark.parametrize("reason", [KeyboardInterrupt, OSError])
    def test_nothing_is_left_of_a_building_that_is_stopped(self, study, tmp_path, reason):
        def stop(step):
            if step == "documents":
                raise reason

        with pytest.raises(reason):
            release_services.build_here(
                study=study, folder=tmp_path / "out" / "x", clock=lambda: START, tell=stop
            )
        assert list((tmp_path / "out").iterdir()) == []
        assert Release.objects.get().state == ReleaseState.REFUSED

    def test_a_claim_of_others_is_left_to_them_when_a_command_breaks_off(self, study, tmp_path):
        release_services.claim_release(study=study, now=START - HOUR)
        (tmp_path / "mine").write_text("mine")

        with pytest.raises(FileExistsError):
            release_services.build_here(
                study=study, folder=tmp_path, clock=lambda: START, tell=lambda _: None
            )
        assert Release.objects.get().state == ReleaseState.BUILDING

    def test_two_workers_that_build_the_same_are_in_nobodys_way(self, study, monkeypatch):
        release = release_services.claim_release(study=study, now=START)
        monkeypatch.setattr(figures, "rendered", lambda *_: b"<svg/>")
        run = partial(release_services.run_release, release_id=release.pk, clock=lambda: START)
        write = building.write_release

        def written_while_another_verifies(contents, folder, tell):
            monkeypatch.setattr(building, "write_release", write)
            with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
                patched.setattr(verifying, "verify", Mock(side_effect=KeyboardInterrupt))
                run()
            return write(contents, folder, tell)

        monkeypatch.setattr(building, "write_release", written_while_another_verifies)
        # As where the database was restarted, which forgets who works.
        monkeypatch.setattr(exclusive, "sole_worker", nullcontext)

        run()

        release.refresh_from_db()
        assert (release.state, release.refusal) == (ReleaseState.DONE, "")
        place = folder_of(release)
        assert list(place.parent.iterdir()) == [place]
        assert verify(place, is_quick=True).is_sound

    def test_a_folder_that_is_not_empty_is_left_alone(self, study, tmp_path):
        (tmp_path / "mine").write_text("mine")

        with pytest.raises(CommandError, match="not empty"):
            call_command("release", "build", "--study", study.slug, "--out", str(tmp_path))
        assert (tmp_path / "mine").read_text() == "mine"
        assert Release.objects.get().state == ReleaseState.REFUSED

    @pytest.mark.parametrize("out", ["file", "file/x"])
    def test_a_place_that_cannot_be_written_is_refused_in_a_line(self, study, tmp_path, out):
        (tmp_path / "file").write_text("mine")

        with pytest.raises(RefusedError, match=f"{out}: (cannot be written|exists)"):
            call_command("release", "build", "--study", study.slug, "--out", str(tmp_path / out))
        assert (tmp_path / "file").read_text() == "mine"

    def test_where_the_site_cannot_keep_its_copy_that_place_is_named(
        self, study, tmp_path, settings
    ):
        settings.HEART_DATA_DIR = Path("/dev/null/kept")

        with pytest.raises(RefusedError, match=r"^/dev/null/kept\S*: cannot be written"):
            call_command("release", "build", "--study", study.slug, "--out", str(tmp_path / "r"))

    def test_a_pseudonym_that_would_leave_stops_it(self, study, tmp_path):
        code = study.raters.order_by("pk").first().code
        type(study).objects.filter(pk=study.pk).update(title=f"About {code}")

        with pytest.raises(release_services.ReleaseRefusedError, match="pseudonym"):
            build(study, tmp_path / "release", is_drawn=False)
        assert not (tmp_path / "release").exists()

    def test_a_rater_who_names_a_pseudonym_in_a_reason_keeps_no_release_back(self, study, tmp_path):
        Rater.objects.filter(pk=study.raters.first().pk).update(code="RABCDEFGHJK")  # no digit
        said = "I am RABCDEFGHJK; it names the feeling."
        QuerySet(Judgment).filter(pk=reason_of(study).pk).update(rationale=said)
        scan_rationales(study=study, clock=lambda: START)

        build(study, tmp_path / "release", is_drawn=False)

        told = {row["rationale"] for row in rows(tmp_path / "release", "judgments")}
        assert "I am [rater id removed]; it names the feeling." in told

    @pytest.mark.parametrize("before", ["\n", "\t", '"', "\\", "\x01"])
    def test_no_escape_hides_a_pseudonym(self, study, tmp_path, before):
        code = study.raters.order_by("pk").first().code
        System.objects.filter(kind=SystemKind.MODEL).update(family=f"My code is{before}{code}")

        with pytest.raises(release_services.ReleaseRefusedError, match=r"systems\.jsonl holds"):
            build(study, tmp_path / "release", is_drawn=False)


@pytest.mark.parametrize(
    ("platforms", "told", "is_merged"),
    [
        ([*["PROLIFIC"] * 5, "GUEST"], {"GUEST": 5, "PROLIFIC": 5}, False),
        ([*["PROLIFIC"] * 5, "CONNECT"], {"other": 5, "PROLIFIC": 5}, True),
    ],
    ids=["as they are", "rare ones as another"],
)
def test_platforms_are_told_where_enough_raters_came_by_them(study, platforms, told, is_merged):
    for number, platform in enumerate(platforms):  # beside four guests
        person = "" if platform == "GUEST" else f"person-{number}"
        rater = make_rater(study=study, platform=platform, external_id=person)
        make_judgment(comparison=study.comparisons.first(), rater=rater)
    fit_services.refit_study(study=study, clock=lambda: START + HOUR)
    release = release_services.claim_release(study=study, now=START + HOUR)

    contents = contents_of(release)

    assert Counter(one["platform"] for one in contents.attributes.values()) == told
    assert any("fewer than 5 raters share" in note for note in contents.notes) is is_merged


def test_what_is_left_out_is_counted_of_what_came_before_the_ratings(study):
    release = release_services.claim_release(study=study, now=START)
    before = contents_of(release).notes
    later = {"submitted_at": START + HOUR, "shown_at": START + HOUR}
    gone = make_rater(
        study=study, state=RaterState.WITHDRAWN, ended_at=START + HOUR, data_kept=False
    )
    make_judgment(comparison=study.comparisons.first(), rationale="Call 555-0100.", **later)
    make_judgment(comparison=study.comparisons.first(), rater=gone, **later)

    assert any("not cleared" in note for note in before)
    assert contents_of(release).notes == before


def test_raters_who_came_after_the_ratings_hide_no_platform_of_those_before(study):
    release = release_services.claim_release(study=study, now=START)
    later = {"submitted_at": START + HOUR, "shown_at": START + HOUR}
    fifth = make_judgment(comparison=study.comparisons.first(), **later).rater  # of the guests

    attributes = contents_of(release).attributes

    assert (len(attributes), fifth.pk in attributes) == (4, False)
    assert not any(attributes.values())


def name_no_fit(monkeypatch):
    Release.objects.update(fits=["there-is-none"])


def fill_the_disk(monkeypatch):
    def fail(**_named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(release_services, "build_release", fail)


def take_too_long(monkeypatch):
    monkeypatch.setattr(release_services, "build_release", Mock(side_effect=SoftTimeLimitExceeded))


def lose_its_workers(monkeypatch):
    Release.objects.update(begun=exclusive.MOST_BEGUN)


class TestBuildingThatFails:
    @pytest.mark.parametrize(
        ("fault", "refusal"),
        [
            (name_no_fit, release_services.BROKEN),
            (fill_the_disk, "No space left on device. Make room"),
            (take_too_long, TOO_LONG),
            (lose_its_workers, release_services.LOST),
        ],
    )
    def test_is_a_refusal_in_words(self, monkeypatch, fault, refusal):
        release = make_release()
        fault(monkeypatch)

        release_services.run_release(release_id=release.pk, clock=lambda: START)

        release.refresh_from_db()
        assert release.state == ReleaseState.REFUSED
        assert refusal in release.refusal

    @pytest.mark.parametrize("away", [InterfaceError, OperationalError])
    def test_is_begun_again_when_the_database_went_away(self, monkeypatch, away):
        release = make_release(claimed_at=START)
        monkeypatch.setattr(release_services, "build_release", Mock(side_effect=away))
        with pytest.raises(away):
            release_services.run_release(release_id=release.pk, clock=lambda: START)

        later = START + 2 * exclusive.PATIENCE

        assert release_services.reclaim_lost_releases(now=later) == [release.pk]

    def test_is_begun_again_when_its_worker_is_lost(self, monkeypatch, now):
        begun = []
        monkeypatch.setattr(
            tasks.build_release, "delay", lambda *, release_id: begun.append(release_id)
        )
        release = make_release(claimed_at=now - exclusive.CLAIM_LENGTH)

        tasks.reclaim_lost_releases()

        assert begun == [release.pk]

    def test_is_begun_again_soon_when_nobody_builds_it_any_more(self, now):
        claimed_at = now - exclusive.PATIENCE
        waiting, lost = (make_release(claimed_at=claimed_at, begun=n) for n in (0, 1))

        with doing_elsewhere(f"building release {lost.pk}"):
            assert release_services.reclaim_lost_releases(now=now) == []
            assert not release_services.run_release(release_id=lost.pk, clock=lambda: now)
        assert release_services.reclaim_lost_releases(now=now) == [lost.pk]
        assert {row.begun for row in Release.objects.filter(pk=waiting.pk)} == {0}

    def test_leaves_nothing_of_a_worker_that_was_killed(self, study):
        release = release_services.claim_release(study=study, now=START)
        place = folder_of(release)
        (place.parent / f".{release.key}.killed").mkdir(parents=True)

        release_services.run_release(release_id=release.pk, clock=lambda: START)

        assert list(place.parent.iterdir()) == [place]


def delete_texts(study, *, now):
    text = Completion.objects.filter(context__dataset=study.dataset, writer__isnull=False).first()
    withdraw_writer(writer=text.writer, keep_texts=False, now=now)


def delete_answers(study, *, now):
    Comparison.objects.filter(study=study).update(shown_first_as_a=50, shown_first_as_b=50)
    withdraw_rater(rater=study.raters.first(), now=now)


@pytest.mark.parametrize("delete", [delete_texts, delete_answers])
class TestWhatWasDeleted:
    def test_is_in_no_release_of_ratings_before(self, study, delete):
        delete(study, now=START + HOUR)

        with pytest.raises(release_services.ReleaseRefusedError, match="Refit"):
            release_services.claim_release(study=study, now=START + HOUR)

    def test_is_in_no_release_of_an_earlier_fit_that_is_named(self, study, delete):
        fit = study.fits.get(pool="COMBINED", context_set="ALL")
        delete(study, now=START + HOUR)
        fit_services.refit_study(study=study, clock=lambda: START + 2 * HOUR)

        fits, obstacle = queries.fits_to_release(study)
        assert (len(fits) > 0, obstacle) == (True, "")
        assert queries.fits_to_release(study, only=fit) == ([], queries.BEHIND)


def write(folder, name, given):
    (folder / name).write_text("".join(line(row) + "\n" for row in given), encoding="utf-8")
    forge_sums(folder)


def problems(folder):
    return " ".join(verify(folder, is_quick=True).problems)


def test_rows_that_may_leave_do_with_their_source_and_a_change_is_named(study, tmp_path):
    pairs = list(Comparison.objects.filter(study=study).order_by("pk"))[:2]
    shared = make_batch(study=study)
    for pair in pairs:
        make_external(batch=shared, comparison=pair, rater="e0001")
    for batch in (make_batch(study=study), make_batch(study=study, licence="all rights reserved")):
        make_external(batch=batch, comparison=pairs[0])
        if batch.licence == shared.licence:
            make_batch_decision(batch=batch)
    folder = tmp_path / "release"
    build(study, folder, is_drawn=False)

    told = [(one["n_judgments"], one["is_excluded"]) for one in rows(folder, "external_batches")]
    assert told == [(2, False), (0, True), (0, False)]
    assert verify(folder, is_quick=True).problems == ()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "The rows of 2 batches" in readme
    assert "data/external_batches.jsonl names" in readme

    one, other = rows(folder, "external_judgments")
    write(folder, ROWS, [one | {"verdict": -2}, other])
    assert f"{ROWS}: line 1: {one['id']} is not the row" in problems(folder)
    write(folder, ROWS, [one, other | {"comparison": "p999999"}])
    assert f"{ROWS}: line 2: comparison 'p999999' is in no comparisons" in problems(folder)
    write(folder, ROWS, [one])
    assert f"{ROWS}: has 1 rows, and release.json says 2" in problems(folder)
    (folder / ROWS).unlink()
    forge_sums(folder)
    assert f"{ROWS}: has 0 rows, and release.json says 2" in problems(folder)


def test_another_batch_makes_another_release_and_without_one_there_is_no_file(study, tmp_path):
    first = build(study, tmp_path / "first", is_drawn=False)
    pair = Comparison.objects.filter(study=study).first()
    make_external(batch=make_batch(study=study), comparison=pair)
    second = build(study, tmp_path / "second", is_drawn=False)

    assert not (tmp_path / "first" / BATCHES).exists()
    assert (tmp_path / "second" / BATCHES).exists()
    assert (first.version, second.version) == (1, 2)
