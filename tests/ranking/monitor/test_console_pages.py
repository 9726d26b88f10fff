"""The page on pay: what to do about each submission, files for platforms, and Prolific's API."""

import csv
import io
import re

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.choices import Platform, RaterState, SubmissionState
from annotation.models import PlatformStudy
from annotation.raters import prolific
from annotation.raters.services import recruiting
from annotation.session.endings import Ending
from tests.helpers.factories import NOW, make_study
from tests.helpers.factories_of_people import make_platform_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import own_addresses, text
from tests.helpers.prolific import TOKEN, come, faking_prolific, make_paid_study
from tests.helpers.visits import study_content

pytestmark = pytest.mark.django_db
REASON = "Two of the pairs that checked whether both replies were read were missed. " * 2


@pytest.fixture
def study():
    return make_paid_study()


@pytest.fixture
def manager(client):
    client.force_login(make_member(role=Role.MANAGER))
    return client


@pytest.fixture
def fake(settings):
    with faking_prolific() as fake:
        settings.HEART_PROLIFIC_TOKEN, settings.HEART_PROLIFIC_API_URL = TOKEN, fake.url
        yield fake


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

    def test_says_what_to_do_beside_the_rater(self, manager, study):
        """A phone shows the first columns alone."""
        come(study, "C1", session="x-0")
        shown = manager.get(reverse("raters:payments", args=[study.slug])).content.decode()
        head = shown.partition("<thead>")[2]

        assert re.findall(r">([^<]+)</th>", head)[:2] == ["Rater", "What to do"]

    @pytest.mark.usefixtures("fake")
    @pytest.mark.parametrize(("code", "by_hand"), [("C1", 0), ("C2", 1), ("C4", 1)])
    def test_ticks_all_whose_work_is_whole_and_no_other(self, manager, study, code, by_hand):
        come(study, code)

        shown = manager.get(reverse("raters:payments", args=[study.slug])).content.decode()
        assert shown.count('name="submission"') == 1
        assert shown.count("data-by-hand") == by_hand

    @pytest.mark.parametrize(
        ("code", "state", "is_under_way"),
        [("", "ACTIVE", True), ("C1", "ACTIVE", False), ("C1", "APPROVED", False)],
    )
    def test_calls_nothing_under_way_that_has_ended(self, client, study, code, state, is_under_way):
        client.force_login(make_member(role=Role.OWNER))
        submission = come(study, code)
        submission.code, submission.state = code, state
        submission.save()
        person = client.get(reverse("people:person", args=[submission.rater.code]))

        assert ("Under way" in page(client, study)) is is_under_way
        assert ("Under way" in text(person)) is is_under_way

    def test_reads_a_code_that_was_derived(self, manager):
        study = make_study(slug="unnamed", content=study_content(), locked_at=NOW)
        submission = come(study, platform=Platform.CONNECT)
        rater = submission.rater
        rater.state, rater.ended_at = RaterState.STOPPED, NOW
        rater.save()
        submission.code = Ending.of_rater(rater).code
        submission.save()

        assert "no_consent" in page(manager, study)

    def test_without_anybody_says_where_the_link_is_and_knows_no_other_choice(self, manager, study):
        address = reverse("raters:payments", args=[study.slug])

        assert "Nobody has come yet" in page(manager, study)
        assert manager.get(address, {"show": "x"}).status_code == 404


class TestFiles:
    def rows(self, client, study, name, **query):
        answer = client.get(reverse(f"raters:{name}", args=[study.slug]), query)
        return list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))

    def test_names_who_to_approve_to_the_platform(self, manager, study):
        come(study)
        come(study, "C2", session="x-2")

        [row] = self.rows(manager, study, "payments_csv", show="approve")

        assert (row["participant"], row["submission"], row["advice"]) == ("p-x-1", "x-1", "approve")

    def test_mechanical_turk_reads_its_own(self, manager, study):
        come(study, platform=Platform.MTURK, ids={"hitId": "h-1"})
        come(study, "C2", session="x-2", platform=Platform.MTURK)

        rows = self.rows(manager, study, "mturk_csv")

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

    def test_gets_one_draft_with_link_codes_and_reward(self, manager, study, fake):
        assert "publish it" in self.draft(manager, study)
        assert "There is a draft on Prolific already." in self.draft(manager, study)

        [made] = fake.studies.values()
        assert (made["total_available_places"], made["reward"]) == (25, 650)
        assert "Pay: as shown on the platform that sent you." in made["description"]
        assert made["external_study_url"].endswith("SESSION_ID={{%SESSION_ID%}}")
        assert "/s/paid/?PROLIFIC_PID=" in made["external_study_url"]
        codes = {one["code"]: one["code_type"] for one in made["completion_codes"]}
        assert codes == {"C1": "COMPLETED", "C2": "OTHER", "C4": "NO_CONSENT"}
        assert PlatformStudy.objects.get().key == made["id"]
        assert LogEntry.objects.filter(action="prolific.drafted").exists()

    def test_leads_on_to_the_list_where_it_made_no_draft(self, manager, study, fake):
        come(study)

        assert own_addresses(send(manager, study, "draft", n_places="", reward="")) == []

    @pytest.mark.parametrize(
        ("crowd", "said"),
        [({"platform": "mturk"}, "another platform"), ({"codes": {}}, "names no code")],
    )
    def test_gets_no_draft_that_could_not_work(self, manager, fake, crowd, said):
        assert said in self.draft(manager, make_paid_study(**crowd))
        assert fake.asked == []

    def test_hears_of_no_simulated_study(self, study, fake):
        study.is_simulated = True

        with pytest.raises(recruiting.NotOnProlificError, match="simulated"):
            recruiting.draft_on_prolific(
                study=study, n_places=1, reward=1.0, entry="https://x/", now=NOW, by=make_member()
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
        for n, state in ((0, "AWAITING REVIEW"), (1, "TIMED-OUT"), (2, "APPROVED")):
            fake.submit(f"x-{n}", there.key, state, f"p-x-{n}")
        fake.submit("x-8", there.key, "RETURNED", "p-of-nobody-here")

        assert "2 submissions changed." in text(send(manager, study, "read_states"))
        assert "0 submissions changed." in text(send(manager, study, "read_states"))

        for submission, state in ((one, "ACTIVE"), (other, "EXPIRED"), (third, "APPROVED")):
            submission.refresh_from_db()
            assert submission.state == state
        other.rater.refresh_from_db()
        assert other.rater.state == RaterState.STOPPED

    def test_approves_what_is_ticked_and_no_submission_of_another_study(self, manager, study, fake):
        there = make_platform_study(study=study)
        mine, done = come(study), come(study, session="x-2", state=SubmissionState.APPROVED)
        theirs = come(make_study(slug="other"), session="x-3")
        for one in (mine, done, theirs):
            fake.submit(one.session_id, there.key, "AWAITING REVIEW", one.rater.external_id)

        keys = [*(one.pk for one in (mine, done, theirs)), "²", "9" * 5000]
        said = text(send(manager, study, "approve", submission=keys))

        assert "1 submission is approved." in said
        assert "Not approved" not in said
        assert fake.submissions["x-1"]["status"] == "APPROVED"
        assert fake.submissions["x-3"]["status"] == "AWAITING REVIEW"
        entry = LogEntry.objects.get(action="submissions.approved")
        assert entry.after == {"raters": [mine.rater.code]}

    def test_rejects_with_words_of_the_length_that_it_asks_for(self, manager, study, fake):
        there = make_platform_study(study=study)
        one, theirs = come(study), come(make_study(slug="other"), session="x-3")
        fake.submit("x-1", there.key, "AWAITING REVIEW", "p-x-1")

        other = send(manager, study, "reject", theirs.pk, category="OTHER", message=REASON)
        assert other.status_code == 404
        short = send(manager, study, "reject", one.pk, category="FAILED_CHECK", message="No.")
        assert short.status_code == 422
        assert fake.asked == []
        send(manager, study, "reject", one.pk, category="FAILED_CHECK", message=REASON)

        told = fake.submissions["x-1"]["told"]
        assert (told["action"], told["rejection_category"]) == ("REJECT", "FAILED_CHECK")
        assert LogEntry.objects.get(action="submission.rejected").after["message"] == REASON.strip()

    @pytest.mark.parametrize(
        "there",
        [("draft", "another person"), ("another study", "p-x-2"), None],
        ids=["of another person", "of another study", "of a study with no draft made here"],
    )
    def test_decides_about_no_submission_that_a_forged_link_may_name(
        self, manager, study, fake, there
    ):
        forged, own = come(study, session="x-2"), come(study)
        if there is not None:
            make_platform_study(study=study, key="draft")
            fake.submit("x-2", there[0], "AWAITING REVIEW", there[1])
            fake.submit("x-1", "draft", "AWAITING REVIEW", "p-x-1")

        approved = text(send(manager, study, "approve", submission=[forged.pk, own.pk]))
        reason = {"category": "OTHER", "message": REASON}
        rejected = text(send(manager, study, "reject", forged.pk, **reason))

        assert f"Not approved: {forged.rater.code}" in approved
        assert ("1 submission is approved." in approved) is (there is not None)
        assert "the link may be forged" in approved
        assert "the link may be forged" in rejected
        assert all(one["status"] != "REJECTED" for one in fake.submissions.values())
        assert not LogEntry.objects.filter(action="submission.rejected").exists()

    def test_decides_about_what_prolific_signed_also_without_a_draft(self, manager, fake):
        study = make_paid_study(signed_links=True)
        one = come(study)
        fake.submit("x-1", "made by hand", "AWAITING REVIEW", "p-x-1")

        assert "1 submission is approved." in text(
            send(manager, study, "approve", submission=[one.pk])
        )

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

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("HEART_PROLIFIC_API_URL", "http://127.0.0.1:9/api/v1/", "could not be reached"),
            ("HEART_PROLIFIC_TOKEN", "another", "Invalid token."),
        ],
        ids=["away", "another token"],
    )
    @pytest.mark.usefixtures("fake")
    def test_that_does_not_let_us_in_says_so(self, manager, study, settings, name, value, said):
        setattr(settings, name, value)

        assert said in self.draft(manager, study)
