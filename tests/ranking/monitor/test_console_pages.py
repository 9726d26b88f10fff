"""The page on pay: what to do about each submission, files for platforms, and Prolific's API."""

import csv
import io

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.choices import (
    CheckKind,
    Expected,
    Platform,
    Protocol,
    Purpose,
    RaterState,
    SubmissionState,
)
from annotation.models import PlatformStudy
from annotation.raters import prolific
from annotation.raters.services import recruiting
from annotation.session.endings import Ending
from ranking.monitor.payments import payments_of
from ranking.raters import queries
from ranking.raters.services.measuring import measure_study
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_people import make_platform_study, make_submission
from tests.helpers.factories_written_once import make_mark, make_member
from tests.helpers.pages import text
from tests.helpers.prolific import TOKEN, faking_prolific
from tests.helpers.released import answer, answer_checks, make_checks
from tests.helpers.visits import study_content

pytestmark = pytest.mark.django_db
CODES = {"complete": "C1", "partial": "C2", "no_consent": "C4"}
REASON = "Two of the pairs that checked whether both replies were read were missed. " * 2


@pytest.fixture
def study():
    crowd = study_content()["crowd"] | {"platform": "prolific", "codes": CODES}
    return make_study(slug="paid", content=study_content(crowd=crowd), locked_at=NOW)


@pytest.fixture
def manager(client):
    client.force_login(make_member(role=Role.MANAGER))
    return client


@pytest.fixture
def fake(settings):
    with faking_prolific() as fake:
        settings.HEART_PROLIFIC_TOKEN, settings.HEART_PROLIFIC_API_URL = TOKEN, fake.url
        yield fake


def come(study, code="C1", session="x-1", platform=Platform.PROLIFIC, **fields):
    rater = make_rater(study=study, platform=platform, external_id=f"p-{session}")
    return make_submission(rater=rater, session_id=session, code=code, **fields)


def page(client, study, **query):
    return text(client.get(reverse("raters:payments", args=[study.slug]), query))


def send(client, study, name, *parts, **fields):
    address = reverse(f"raters:{name}", args=[study.slug, *parts])
    return client.post(address, fields, follow=True)


class TestThePage:
    def test_says_what_to_do_about_each_submission(self, manager, study):
        for n, code in enumerate(("C1", "C2", "C4", "")):
            come(study, code, session=f"x-{n}")
        come(study, session="x-9", state=SubmissionState.APPROVED)

        shown = page(manager, study)

        for told in ("Approve (1)", "Pay in part (1)", "Ask to return it (1)", "Not ended (1)"):
            assert told in shown
        assert "Settled (1)" in shown
        assert "x-1" not in page(manager, study, show="approve")

    @pytest.mark.usefixtures("fake")
    @pytest.mark.parametrize(("code", "by_hand"), [("C1", 0), ("C2", 1), ("C4", 1)])
    def test_ticks_all_whose_work_is_whole_and_no_other(self, manager, study, code, by_hand):
        come(study, code)

        shown = manager.get(reverse("raters:payments", args=[study.slug])).content.decode()
        assert shown.count('name="submission"') == 1
        assert shown.count("data-by-hand") == by_hand

    def test_reads_a_code_that_was_derived(self, manager):
        study = make_study(slug="unnamed", content=study_content(), locked_at=NOW)
        rater = make_rater(
            study=study,
            platform=Platform.CONNECT,
            external_id="p",
            ended_at=NOW,
            state=RaterState.STOPPED,
        )
        make_submission(rater=rater, code=Ending.of_rater(rater).code, session_id="x")

        assert "no_consent" in page(manager, study)

    def test_without_anybody_says_where_the_link_is(self, manager, study):
        assert "Nobody has come yet" in page(manager, study)

    def test_is_not_for_analysts_who_may_see_no_ids(self, client, study):
        client.force_login(make_member(role=Role.ANALYST))

        assert client.get(reverse("raters:payments", args=[study.slug])).status_code == 403

    def test_knows_no_other_choice(self, manager, study):
        address = reverse("raters:payments", args=[study.slug])

        assert manager.get(address, {"show": "x"}).status_code == 404

    def test_asks_few_questions_however_many_came(
        self, manager, study, django_assert_max_num_queries
    ):
        for n in range(30):
            come(study, session=f"x-{n}")

        with django_assert_max_num_queries(15):
            page(manager, study)


class TestFailedChecks:
    def plant(self, study, rater, *, n=2, verdict=-1, kind=CheckKind.ATTENTION, hours=0):
        checks = make_checks(study, n, kind=kind)
        answer_checks(rater, checks, verdict, issued_at=NOW + hours * HOUR)

    def advice(self, study):
        return [(one.advice.value, one.n_failed, one.n_checks) for one in payments_of(study)]

    @pytest.mark.parametrize(
        ("planted", "told"),
        [
            ({}, ("rejectable", 2, 2)),
            ({"n": 1}, ("approve", 1, 1)),
            ({"verdict": 2}, ("approve", 0, 2)),
            ({"kind": CheckKind.GOLD}, ("approve", 0, 0)),
        ],
    )
    def test_of_attention_let_work_be_rejected_and_others_do_not(self, study, planted, told):
        self.plant(study, come(study).rater, **planted)

        assert self.advice(study) == [told]

    def test_are_no_repeats_of_own_pairs(self, study):
        rater = come(study).rater
        for _ in range(2):
            earlier = answer(make_comparison(study=study), rater, 2)
            answer(earlier.comparison, rater, -1, repeats=earlier.lease)

        assert self.advice(study) == [("approve", 0, 0)]

    def test_are_those_of_the_newest_version_of_an_answer(self, study):
        rater = come(study).rater
        self.plant(study, rater)
        for one in rater.judgments.all():
            make_judgment(
                comparison=one.comparison, rater=rater, lease=one.lease, revises=one, verdict=2
            )

        assert self.advice(study) == [("approve", 0, 2)]

    def test_count_against_the_submission_in_which_they_were_answered(self, study):
        rater = come(study, state=SubmissionState.RETURNED).rater
        self.plant(study, rater)
        make_submission(
            rater=rater, number=2, session_id="x-2", code="C1", opened_at=NOW + 2 * HOUR
        )
        self.plant(study, rater, verdict=2, hours=3)

        assert self.advice(study) == [("approve", 0, 2), ("settled", 2, 2)]

    def test_count_before_the_raters_of_a_large_study_are_measured_again(self, study, monkeypatch):
        measure_study(study_id=study.pk, now=NOW)
        monkeypatch.setattr(queries, "MOST_LIVE", 0)
        self.plant(study, come(study).rater)

        assert self.advice(study) == [("rejectable", 2, 2)]

    def test_of_messages_alone_are_read_from_the_dimension(self):
        study = make_study(slug="alone", content=study_content(), protocol=Protocol.LIKERT)
        rater = come(study).rater
        for mark in (4, 2):
            check = make_quality_check(
                comparison=make_alone(study=study, purpose=Purpose.CHECK),
                kind=CheckKind.ATTENTION,
                expected=Expected.HIGH,
                dimension="H",
            )
            given = answer(check.comparison, rater, None, quality_check=check)
            make_mark(judgment=given, dimension="H", advantage=mark)

        assert [(one.n_failed, one.n_checks) for one in payments_of(study)] == [(1, 2)]


class TestFiles:
    def test_names_who_to_approve_to_the_platform(self, manager, study):
        come(study)
        come(study, "C2", session="x-2")

        address = reverse("raters:payments_csv", args=[study.slug])
        answer = manager.get(address, {"show": "approve"})

        [row] = csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig")))
        assert (row["participant"], row["submission"], row["advice"]) == ("p-x-1", "x-1", "approve")

    def test_mechanical_turk_reads_its_own(self, manager, study):
        come(study, platform=Platform.MTURK, ids={"hitId": "h-1"})
        come(study, "C2", session="x-2", platform=Platform.MTURK)

        answer = manager.get(reverse("raters:mturk_csv", args=[study.slug]))

        rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
        assert {row["AssignmentId"]: row["Approve"] for row in rows} == {"x-1": "X", "x-2": ""}


class TestWithoutAKey:
    @pytest.mark.parametrize("name", ["approve", "draft", "places", "read_states"])
    def test_nothing_of_prolific_answers(self, manager, study, name):
        make_platform_study(study=study)

        answer = send(manager, study, name, n_places="3", reward="6")

        assert answer.status_code == 404

    def test_the_page_offers_nothing_of_it(self, manager, study):
        come(study)

        assert "On Prolific" not in page(manager, study)


class TestProlific:
    def draft(self, client, study):
        return text(send(client, study, "draft", n_places="25", reward="6.50"))

    def test_gets_a_draft_with_link_codes_and_reward(self, manager, study, fake):
        assert "publish it" in self.draft(manager, study)

        [made] = fake.studies.values()
        assert made["total_available_places"] == 25
        assert made["reward"] == 650
        assert "Pay: as shown on the platform that sent you." in made["description"]
        assert made["external_study_url"].endswith("SESSION_ID={{%SESSION_ID%}}")
        assert "/s/paid/?PROLIFIC_PID=" in made["external_study_url"]
        assert {one["code"]: one["code_type"] for one in made["completion_codes"]} == {
            "C1": "COMPLETED",
            "C2": "OTHER",
            "C4": "NO_CONSENT",
        }
        assert PlatformStudy.objects.get().key == made["id"]
        assert LogEntry.objects.filter(action="prolific.drafted").exists()

    def test_gets_no_second_draft(self, manager, study, fake):
        self.draft(manager, study)

        assert "There is a draft on Prolific already." in self.draft(manager, study)
        assert len(fake.studies) == 1

    @pytest.mark.parametrize(
        ("crowd", "said"),
        [
            ({"platform": "mturk", "codes": CODES}, "another platform"),
            ({"platform": "prolific", "codes": {}}, "names no code"),
        ],
    )
    def test_gets_no_draft_that_could_not_work(self, manager, fake, crowd, said):
        content = study_content(crowd=study_content()["crowd"] | crowd)
        study = make_study(slug="odd", content=content, locked_at=NOW)

        assert said in self.draft(manager, study)
        assert fake.asked == []

    def test_hears_of_no_simulated_study(self, study, fake):
        study.is_simulated = True

        with pytest.raises(recruiting.NotOnProlificError, match="simulated"):
            recruiting.draft_on_prolific(
                study=study,
                recruiting=recruiting.Recruiting(1, 1.0),
                entry="https://x/",
                now=NOW,
                by=make_member(),
            )

    def test_changes_the_places(self, manager, study, fake):
        self.draft(manager, study)

        assert "The places are changed." in text(send(manager, study, "places", n_places="40"))
        assert next(iter(fake.studies.values()))["total_available_places"] == 40
        assert PlatformStudy.objects.get().n_places == 40

    @pytest.mark.parametrize(
        ("name", "fields"),
        [("draft", {"n_places": "0", "reward": "x"}), ("places", {"n_places": ""})],
    )
    def test_is_not_asked_with_numbers_that_are_none(self, manager, study, fake, name, fields):
        assert send(manager, study, name, **fields).status_code == 422
        assert fake.asked == []

    def test_tells_how_submissions_ended_page_by_page(self, manager, study, fake, monkeypatch):
        monkeypatch.setattr(prolific, "A_PAGE", 2)
        there = make_platform_study(study=study)
        one, other, third = (come(study, "", session=f"x-{n}") for n in range(3))
        fake.submit("x-0", there.key, "AWAITING REVIEW", "p-x-0")
        fake.submit("x-1", there.key, "TIMED-OUT", "p-x-1")
        fake.submit("x-2", there.key, "APPROVED", "p-x-2")
        fake.submit("x-8", there.key, "RETURNED", "p-of-nobody-here")

        assert "2 submissions changed." in text(send(manager, study, "read_states"))
        assert "0 submissions changed." in text(send(manager, study, "read_states"))

        for submission, state in ((one, "ACTIVE"), (other, "EXPIRED"), (third, "APPROVED")):
            submission.refresh_from_db()
            assert submission.state == state
        other.rater.refresh_from_db()
        assert other.rater.state == RaterState.STOPPED

    def test_approves_what_is_ticked_and_no_submission_of_another_study(self, manager, study, fake):
        mine, done = come(study), come(study, session="x-2", state=SubmissionState.APPROVED)
        theirs = come(make_study(slug="other"), session="x-3")
        for one in (mine, done, theirs):
            fake.submit(one.session_id, "s", "AWAITING REVIEW", "p")

        keys = [one.pk for one in (mine, done, theirs)]
        said = text(send(manager, study, "approve", submission=keys))

        assert "1 submission is approved." in said
        assert fake.submissions["x-1"]["status"] == "APPROVED"
        assert fake.submissions["x-3"]["status"] == "AWAITING REVIEW"
        entry = LogEntry.objects.get(action="submissions.approved")
        assert entry.after == {"raters": [mine.rater.code]}

    def test_rejects_with_words_of_the_length_that_it_asks_for(self, manager, study, fake):
        one = come(study)
        fake.submit("x-1", "s", "AWAITING REVIEW", "p")

        short = send(manager, study, "reject", one.pk, category="FAILED_CHECK", message="No.")
        assert short.status_code == 422
        assert fake.asked == []
        send(manager, study, "reject", one.pk, category="FAILED_CHECK", message=REASON)

        told = fake.submissions["x-1"]["told"]
        assert (told["action"], told["rejection_category"]) == ("REJECT", "FAILED_CHECK")
        assert LogEntry.objects.get(action="submission.rejected").after["message"] == REASON.strip()

    def test_rejects_nobody_of_another_study(self, manager, study, fake):
        theirs = come(make_study(slug="other"))

        answer = send(manager, study, "reject", theirs.pk, category="OTHER", message=REASON)

        assert answer.status_code == 404

    @pytest.mark.parametrize(
        ("faults", "said"),
        [
            ({"fails_with": (400, {"error": {"detail": "Too few funds."}})}, "Too few funds."),
            ({"fails_with": (500, {})}, "Prolific refused (500)"),
            ({"fails_with": (302, {"to": "http://127.0.0.1:9/"})}, "Prolific refused (302)"),
            ({"raw": b"<html>"}, "something else than JSON"),
            ({"raw": b"{}"}, "without its id"),
            ({"raw": b"[]"}, "without its id"),
        ],
    )
    def test_that_fails_leaves_nothing_behind(self, manager, study, fake, faults, said):
        vars(fake).update(faults)

        assert said in self.draft(manager, study)
        assert not PlatformStudy.objects.exists()

    def test_that_is_away_says_so(self, manager, study, fake, settings):
        settings.HEART_PROLIFIC_API_URL = "http://127.0.0.1:9/api/v1/"

        assert "could not be reached" in self.draft(manager, study)

    def test_that_knows_no_such_token_says_so(self, manager, study, fake, settings):
        settings.HEART_PROLIFIC_TOKEN = "another"

        assert "Invalid token." in self.draft(manager, study)
