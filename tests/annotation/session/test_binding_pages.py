"""A platform's id opens nothing by itself: answers belong to the browser in which somebody agreed.

The attack: whoever knows another's id opens the study's link with it, reads their reasons, answers
in their name, and withdraws them.
"""

import pytest
from django.test import Client
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.choices import RaterState
from annotation.models import Judgment, Rater
from annotation.session import http
from tests.annotation.raters.test_entry_links import HOST, IDS, KEY, key_set, keys_served, token
from tests.annotation.session.steps import PROLIFIC, judge, let_in
from tests.helpers.factories import make_comparison, make_judgment, make_rater, make_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.visits import ANSWERS, consent_fields, enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db
REASON = "B asks for more than it hears."


@pytest.fixture
def study():
    return open_study(n_pairs=3)


@pytest.fixture
def rater(client, study):
    """Somebody who has answered a pair in the browser ``client``."""
    rater = enrol(client, study, **PROLIFIC)
    judge(client, study)
    assert rater.judgments.get().rationale == REASON
    return rater


@pytest.fixture
def thief():
    return Client()


class TestSomebodyElse:
    @pytest.mark.parametrize(
        "link",
        [PROLIFIC, PROLIFIC | {"SESSION_ID": "x-2"}, {"PROLIFIC_PID": "p-17"},
         {"prolific_pid": " p-17\u200b"}],
        ids=["the same link", "another session", "the id alone", "the id in disguise"],
    )  # fmt: skip
    def test_is_told_how_its_owner_comes_back_and_gets_no_credential(
        self, study, rater, thief, link
    ):
        page = thief.get(url(study, "entry"), link)

        assert page.status_code == 409
        assert "You started this study in another browser" in page.content.decode()
        assert REASON not in page.content.decode()
        assert http.COOKIE not in thief.cookies
        assert rater.submissions.count() == 1

    def test_reaches_no_page_of_the_rater_and_changes_nothing(self, study, rater, thief):
        lease = rater.leases.get(number=1)
        thief.get(url(study, "entry"), PROLIFIC)

        names = ("last", "withdraw", "judge", "stop", "done", "take_break")
        answers = {name: thief.get(url(study, name)) for name in names}
        thief.post(url(study, "submit", lease.token), ANSWERS["preference"] | {"verdict": "-2"})
        thief.post(url(study, "withdraw"), {"answers": "delete"})
        thief.post(url(study, "stop"))

        for answer in answers.values():
            assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))
        rater.refresh_from_db()
        assert (rater.state, rater.data_kept) == (RaterState.ACTIVE, True)
        assert Judgment.objects.count() == 1

    def test_agreeing_with_a_form_from_before_does_not_help(self, client, study, thief):
        fields = consent_fields(thief, study, **PROLIFIC)
        rater = enrol(client, study, **PROLIFIC)

        page = thief.post(url(study, "consent"), fields | {"choice": "agree"})

        assert page.status_code == 409
        assert http.COOKIE not in thief.cookies
        assert Rater.objects.get() == rater

    def test_who_is_a_rater_here_already_does_not_become_another(self, study, rater, thief):
        other = enrol(thief, study, **PROLIFIC | {"PROLIFIC_PID": "p-18"})
        before = thief.cookies[http.COOKIE].value

        assert thief.get(url(study, "entry"), PROLIFIC).status_code == 409
        assert thief.cookies[http.COOKIE].value == before
        assert other != rater


@pytest.mark.parametrize(
    ("link", "n_submissions"),
    [(PROLIFIC, 1), ({"PROLIFIC_PID": "p-17"}, 2), ({"prolific_pid": "p-17\u200b "}, 2), ({}, 1)],
    ids=["the same link", "the id alone", "the id in disguise", "no id"],
)
def test_the_rater_goes_straight_on_in_the_same_browser(client, study, rater, link, n_submissions):
    answer = client.get(url(study, "entry"), link)

    assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))
    assert rater.submissions.count() == n_submissions


def test_another_person_in_the_same_browser_gives_a_consent_of_their_own(client, study, rater):
    other = client.get(url(study, "entry"), PROLIFIC | {"PROLIFIC_PID": "p-18"})

    assert other.status_code == 200


class TestRelease:
    def release(self, rater):
        owner = Client()
        owner.force_login(make_member())
        return owner.post(reverse("people:unbind", args=[rater.code]), follow=True)

    def test_lets_the_next_browser_in_and_the_old_one_out(self, client, study, rater, thief):
        old_link = url(study, "resume", http.credential(rater, use="link"))

        page = self.release(rater)

        assert "can come back by the link of the platform" in page.content.decode()
        entry = LogEntry.objects.get(action="rater.unbound")
        assert (entry.subject, entry.by is not None) == (f"rater {rater.code}", True)
        assert client.get(url(study, "judge"))["Location"] == url(study, "entry")
        assert Client().get(old_link).status_code == 404
        assert enrol(thief, study, **PROLIFIC) == rater
        assert thief.get(url(study, "judge")).status_code == 200
        assert Client().get(url(study, "entry"), PROLIFIC).status_code == 409

    def test_would_lock_a_guest_out_and_is_refused(self, client, study):
        guest = enrol(client, study)

        page = self.release(guest)

        assert "has no ID to come back with" in page.content.decode()
        assert client.get(url(study, "judge")).status_code == 200


class TestSignedLinks:
    @pytest.fixture
    def signed_study(self, settings):
        settings.ALLOWED_HOSTS = [HOST]
        crowd = study_content()["crowd"] | {"platform": "prolific", "signed_links": True}
        with keys_served(key_set(KEY)) as url:
            settings.HEART_PROLIFIC_KEYS_URL = url
            yield open_study(content=study_content(crowd=crowd))

    def get(self, client, study, **link):
        client.defaults["HTTP_HOST"] = HOST
        return client.get(url(study, "entry"), link)

    def enrol(self, client, study, **changes):
        client.defaults["HTTP_HOST"] = HOST
        return enrol(client, study, prolific_token=token(prolific=IDS | changes))

    def test_let_in_whom_they_name_and_back_in_any_browser(self, client, signed_study, thief):
        rater = self.enrol(client, signed_study)
        assert (rater.platform, rater.external_id) == ("PROLIFIC", "p-17")
        assert rater.submissions.get().session_id == "x-1"

        answer = self.get(thief, signed_study, prolific_token=token())

        assert answer["Location"] == url(signed_study, "judge")
        assert thief.get(url(signed_study, "judge")).status_code == 200
        assert Rater.objects.get() == rater

    @pytest.mark.parametrize(
        "link",
        [PROLIFIC, {}, PROLIFIC | {"prolific_token": "forged"}],
        ids=["ids alone", "nothing", "forged beside ids"],
    )
    def test_unsigned_ones_let_nobody_in(self, client, signed_study, thief, link):
        self.enrol(client, signed_study)

        page = self.get(thief, signed_study, **link)

        assert page.status_code == 400
        assert "not complete" in page.content.decode()
        assert http.COOKIE not in thief.cookies

    def test_wait_kindly_while_the_keys_are_away(self, client, signed_study, settings):
        with keys_served() as url:
            settings.HEART_PROLIFIC_KEYS_URL = url

        page = self.get(client, signed_study, prolific_token=token())

        assert (page.status_code, page["Retry-After"]) == (503, "120")
        assert "cannot check your link" in page.content.decode()


class TestMembersWhoRate:
    @pytest.fixture
    def member(self, client):
        client.force_login(make_member(role=Role.ANALYST))

    def test_are_warned(self, client, study, member):
        assert "signed in as a member" in client.get(url(study, "entry")).content.decode()

    def test_are_flagged_when_they_sign_in_later_and_others_are_not(self, client, study):
        rater = let_in(client, study)
        before = client.get(url(study, "judge"))
        rater.refresh_from_db()
        assert not rater.is_team
        assert "member" not in before.content.decode()
        client.force_login(make_member(role=Role.ANALYST))

        page = client.get(url(study, "judge"))

        rater.refresh_from_db()
        assert rater.is_team
        assert "signed in as a member" in page.content.decode()

    def test_are_told_from_others_in_the_console(self, client, member):
        study = make_study()
        rater = make_rater(study=study, is_team=True)
        make_judgment(comparison=make_comparison(study=study), rater=rater)

        listed = client.get(reverse("raters:list", args=[study.slug])).content.decode()
        table = b"".join(client.get(reverse("raters:csv", args=[study.slug])).streaming_content)

        assert "team member" in listed
        assert table.splitlines()[0].split(b",")[2] == b"is_team"
        assert table.splitlines()[1].split(b",")[2] == b"True"
