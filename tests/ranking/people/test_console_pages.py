"""The console's pages on people: found by what they have, shown by counts, withdrawn once."""

import datetime as dt

import pytest
from django.urls import reverse

from access.evidence import evidence_of
from access.models import ConsentEvidence, LogEntry
from annotation.choices import Platform, RaterState, StudyState
from annotation.models import Judgment, PlatformEvent
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering, withdrawing
from completions.choices import LeaseOutcome, WriterState
from completions.models import Completion
from ranking.choices import EvaluatorPool, FitState, ReleaseState
from ranking.fits import queries
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_judgment,
    make_lease,
    make_rater,
    make_study,
    make_writer,
)
from tests.helpers.factories_of_people import make_event
from tests.helpers.factories_written_once import make_fit, make_release

pytestmark = pytest.mark.django_db
SEARCH = reverse("people:search")
ID = "5f3b1c9d8e7a6b5c4d3e2f1a"
DONE = {"state": FitState.DONE, "ended_at": NOW + HOUR, "as_of": NOW + 24 * HOUR}


@pytest.fixture
def judgment():
    rater = make_rater(platform=Platform.PROLIFIC, external_id=ID, session={"SESSION_ID": "s"})
    pair = make_comparison(study=rater.study, slots_left=4, shown_first_as_a=1, shown_first_as_b=1)
    closed = {"closed_at": NOW + HOUR, "outcome": LeaseOutcome.SUBMITTED}
    lease = make_lease(comparison=pair, rater=rater, **closed)
    return make_judgment(comparison=pair, rater=rater, lease=lease, rationale="Ann is warm.")


@pytest.fixture
def rater(judgment):
    return judgment.rater


def page_of(person):
    return reverse("people:person", args=[person.code])


class TestSearch:
    @pytest.mark.parametrize("asked", [ID, ID.upper(), f" {ID} "])
    def test_finds_by_the_id_of_the_platform_and_never_shows_it(self, staff, rater, asked):
        page = staff.post(SEARCH, {"asked": asked}).content.decode()

        assert page_of(rater) in page
        assert ID not in page.lower()
        assert LogEntry.objects.count() == 0

    def test_finds_by_code_and_by_the_address_of_a_writer(self, staff, rater):
        writer = make_writer(email="ann@example.org")

        assert page_of(rater) in staff.post(SEARCH, {"asked": rater.code}).content.decode()
        page = staff.post(SEARCH, {"asked": "Ann@Example.org"}).content.decode()
        assert page_of(writer) in page
        assert "ann@" not in page

    def test_takes_no_question_from_the_address(self, staff, rater):
        assert rater.code not in staff.get(SEARCH, {"asked": ID}).content.decode()

    def test_says_that_nobody_is_known_and_asks_for_something(self, staff):
        assert "Nobody is known by that" in staff.post(SEARCH, {"asked": "x"}).content.decode()
        assert staff.post(SEARCH, {"asked": ""}).status_code == 422
        assert staff.get(reverse("people:person", args=["R2222222222"])).status_code == 404


class TestPerson:
    def test_shows_counts_and_that_there_is_an_id(
        self, staff, rater, django_assert_max_num_queries
    ):
        make_fit(study=rater.study, **DONE)
        with django_assert_max_num_queries(16):
            page = staff.get(page_of(rater)).content.decode()

        assert "<dt>judgments</dt><dd>1</dd>" in page
        assert '<th scope="row">id of the platform</th><td>held</td>' in page
        assert ID not in page
        assert "Ann is warm" not in page

    def test_anonymising_cuts_the_link_and_keeps_the_answers(self, staff, rater):
        make_event(rater=rater, study=rater.study)

        staff.post(page_of(rater), {"wish": "anonymise", "reason": "wrote to us"})

        rater.refresh_from_db()
        assert (rater.state, rater.external_id) == (RaterState.WITHDRAWN, "")
        assert rater.data_kept
        assert Judgment.objects.get().rationale
        assert PlatformEvent.objects.get().rater is None

    def test_deleting_erases_the_words_and_logs_who_and_why_without_the_person(self, staff, rater):
        staff.post(page_of(rater), {"wish": "delete", "reason": "wrote to us"})

        rater.refresh_from_db()
        assert not rater.data_kept
        assert Judgment.objects.get().rationale == ""
        entry = LogEntry.objects.get(action="rater.withdrew")
        assert entry.by is not None
        assert entry.after == {"answers": "deleted", "reason": "wrote to us"}
        assert ID not in f"{entry.subject}{entry.before}{entry.after}"

    @pytest.mark.parametrize("posted", [{"wish": "delete"}, {"reason": "wrote"}, {}])
    def test_needs_a_choice_and_a_reason(self, staff, rater, posted):
        assert staff.post(page_of(rater), posted).status_code == 422
        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE

    def test_withdraws_a_writer_and_erases_the_texts(self, staff):
        writer = make_writer(email="ann@example.org")
        make_completion(writer=writer)

        staff.post(page_of(writer), {"wish": "delete", "reason": "wrote to us"})

        writer.refresh_from_db()
        assert (writer.state, writer.email) == (WriterState.WITHDRAWN, "")
        assert Completion.objects.get().text == ""


class TestStaleResults:
    @pytest.fixture
    def fit(self, rater):
        return make_fit(study=rater.study, **DONE)

    def test_are_named_before_and_can_be_refitted_after(self, staff, rater, fit):
        before = staff.get(page_of(rater)).content.decode()
        assert fit.key in before
        assert "would become stale" in before

        staff.post(page_of(rater), {"wish": "delete", "reason": "wrote"})

        after = staff.get(page_of(rater)).content.decode()
        assert fit.key in after
        assert reverse("raters:refit", args=[rater.study.slug]) in after

    def test_are_fits_of_people_that_came_after_the_answer_and_releases(self, rater, fit):
        make_fit(study=rater.study, **DONE | {"as_of": NOW - 24 * HOUR})
        make_fit(study=rater.study, **DONE | {"pool": EvaluatorPool.LLM})
        make_fit(**DONE)
        released = {"state": ReleaseState.DONE, "as_of": NOW + HOUR, "ended_at": NOW + HOUR}
        made = make_release(study=rater.study, manifest_hash="1" * 64, **released)

        (found,) = queries.resting_on_rater(rater)

        assert [key for key, _at in found.fits] == [fit.key]
        assert found.releases == (made.version,)

    @pytest.mark.parametrize(
        ("after", "keep_answers", "is_stale"),
        [(HOUR, False, True), (-HOUR, False, False), (HOUR, True, False)],
        ids=["withdrawn since", "withdrawn before the fit", "anonymised"],
    )
    def test_say_so_once_their_data_is_withdrawn(self, rater, fit, after, keep_answers, is_stale):
        assert not queries.has_withdrawn_data(fit)

        withdrawing.withdraw_rater(rater=rater, now=fit.as_of + after, keep_answers=keep_answers)

        assert queries.has_withdrawn_data(fit) is is_stale

    def test_rest_on_the_texts_of_a_writer(self, judgment, fit):
        writer = make_writer(dataset=judgment.comparison.study.dataset)
        text = judgment.comparison.first
        Completion.objects.filter(pk=text.pk).update(writer=writer)

        (found,) = queries.resting_on_writer(writer)
        assert [key for key, _at in found.fits] == [fit.key]

        Completion.objects.filter(pk=text.pk).update(text="", erased_at=fit.as_of + HOUR)
        assert queries.has_withdrawn_data(fit)


class TestEvidence:
    def enter(self):
        study = make_study(state=StudyState.OPEN, locked_at=NOW, protocol_hash="0" * 64)
        make_comparison(study=study, slots_left=3)
        entry = Entry(Platform.PROLIFIC, ID, {})
        return entering.enter_study(study=study, entry=entry, utc_offset_minutes=None, now=NOW)

    def test_outlasts_a_deletion_without_the_id_the_code_or_the_time(self, staff):
        rater = self.enter()
        row = ConsentEvidence.objects.get()
        withdrawing.withdraw_rater(rater=rater, now=NOW + HOUR)

        page = staff.post(SEARCH, {"asked": ID}).content.decode()

        assert rater.study.slug in page
        assert rater.code not in page
        stored = " ".join(map(str, vars(row).values()))
        assert ID not in stored
        assert rater.code not in stored
        assert row.given_on == dt.date(2026, 1, 5)

    def test_knows_nobody_under_another_key(self, settings):
        self.enter()
        assert evidence_of(ID)

        settings.HEART_EVIDENCE_KEY = "another"

        assert evidence_of(ID) == []
        assert evidence_of(" ") == []


def test_an_owner_sees_what_is_deleted_when(staff):
    page = staff.get(reverse("people:retention"))

    assert page.status_code == 200
    assert "Nothing has a date yet" in page.content.decode()
