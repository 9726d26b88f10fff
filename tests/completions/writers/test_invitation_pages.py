"""Who a writer is: the personal link, consent, the cookie, and what others are told."""

import re

import pytest
from django.urls import reverse

from completions.choices import Background, WriterState
from completions.models import Dataset, Message, Writer, WriterConsent
from completions.writers import forms, guidelines
from completions.writers.credentials import credential, invitation_link
from completions.writers.http import COOKIE
from completions.writers.services import inviting
from tests.completions.writers.desk import (
    MESSAGE,
    make_pool,
    open_link,
    sign_in,
    take_dialogue,
    url,
)
from tests.helpers.factories import NOW, digest, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_admission
from tests.helpers.factories_written_once import make_writer_consent
from tests.helpers.visits import read_forms

pytestmark = pytest.mark.django_db


@pytest.fixture
def invited():
    return make_writer(state=WriterState.INVITED, admitted_at=None, email="ada@example.org")


def consent_hash(*host):
    return digest(guidelines.consent_text(*host))


class TestPersonalLink:
    def test_asks_for_consent_by_two_equal_buttons_and_stores_nothing_yet(self, client, invited):
        answer = open_link(client, invited)

        page = answer.content.decode()
        assert answer.status_code == 200
        assert COOKIE not in answer.cookies
        assert not WriterConsent.objects.exists()
        for name in guidelines.FACTS:
            assert name in page
        assert guidelines.CONTENT_NOTE in page
        assert "findahelpline.com" in page
        assert '<button class="button equal" name="choice" value="decline">' in page
        assert '<button class="button equal" name="choice" value="agree">' in page

    def test_names_who_invites_what_it_pays_and_whom_to_ask(self, client, invited):
        host = {"person": "Ada", "lab": "Care Lab", "pay": "10 pounds", "contact": "a@lab.example"}
        Dataset.objects.update(host=host)

        page = open_link(client, invited).content.decode()

        assert all(text in page for text in ("Ada, Care Lab", "10 pounds", "a@lab.example"))
        client.post(invitation_link(invited), {"choice": "agree"})
        assert WriterConsent.objects.get().text_hash == consent_hash(host)

    @pytest.mark.parametrize("is_secure", [False, True])
    def test_agreeing_twice_stores_one_consent_and_a_cookie_hidden_from_scripts(
        self, client, invited, is_secure
    ):
        """The cookie is for raters' pages too."""
        link = invitation_link(invited)

        answer = client.post(link, {"choice": "agree"}, follow=True, secure=is_secure)
        client.post(link, {"choice": "agree"}, secure=is_secure)

        assert answer.redirect_chain == [(url("desk"), 303), (url("profile"), 303)]
        assert answer.status_code == 200
        assert WriterConsent.objects.get().text_hash == consent_hash()
        cookie = client.cookies[COOKIE]
        assert cookie.value == credential(invited, use="cookie")
        assert (cookie["httponly"], cookie["path"], cookie["samesite"]) == (True, "/", "Lax")
        assert bool(cookie["secure"]) == is_secure

    def test_who_declines_is_forgotten_and_may_think_better_of_it(self, client, invited):
        page = client.post(invitation_link(invited), {"choice": "decline"})

        invited.refresh_from_db()
        assert page.status_code == 200
        assert "nothing else was stored" in page.content.decode()
        assert (invited.state, invited.email) == (WriterState.DECLINED, "")
        assert COOKIE not in client.cookies
        assert not WriterConsent.objects.exists()
        assert 'value="agree"' in open_link(client, invited).content.decode()

    @pytest.mark.parametrize("choice", ["agree", "decline"])
    def test_that_was_answered_in_another_tab_meanwhile_leads_to_the_desk(
        self, choice, client, invited, monkeypatch
    ):
        def clean(form):
            inviting.accept_invitation(writer=invited, now=NOW)
            return form.cleaned_data

        monkeypatch.setattr(forms.Consent, "clean", clean, raising=False)

        answer = client.post(invitation_link(invited), {"choice": choice})

        invited.refresh_from_db()
        assert answer["Location"] == url("desk")
        assert (invited.state, invited.email) == (WriterState.PROFILING, "ada@example.org")
        assert WriterConsent.objects.count() == 1

    @pytest.mark.parametrize("payload", [{}, {"choice": ""}, {"choice": "perhaps"}])
    def test_an_answer_that_is_none_shows_the_question_again(self, client, invited, payload):
        page = client.post(invitation_link(invited), payload)

        assert page.status_code == 422
        assert 'value="agree"' in page.content.decode()
        assert not WriterConsent.objects.exists()

    @pytest.mark.parametrize("link", ["W00001-1", "W00001-1~forged", "%20", "a~b~c"])
    def test_a_link_that_nobody_signed_gets_a_kind_page(self, client, link):
        page = client.get(f"/w/i/{link}/")

        assert page.status_code == 404
        assert "doesn’t work" in page.content.decode()

    def test_neither_an_older_link_nor_a_cookie_is_a_link(self, client, invited):
        older = invitation_link(invited)
        invited.link_version += 1
        invited.save(update_fields=["link_version"])
        cookie = credential(invited, use="cookie")

        assert client.get(older).status_code == 404
        assert client.get(url("invitation", cookie)).status_code == 404
        assert open_link(client, invited).status_code == 200

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"state": WriterState.PAUSED}, "on pause"),
            ({"state": WriterState.LEFT}, "You have left"),
            ({"state": WriterState.WITHDRAWN}, "You have withdrawn"),
            ({"state": WriterState.REFUSED}, "Your trial is over"),
            ({"state": WriterState.WITHDRAWN, "texts_kept": False}, "Your replies were deleted"),
        ],
    )
    def test_knows_who_still_has_something_to_decide_and_says_why_they_may_not_write(
        self, client, fields, words
    ):
        page = open_link(client, make_writer(**fields), follow=True)

        assert page.status_code == 403
        assert words in page.content.decode()
        assert (COOKIE in client.cookies) == fields.get("texts_kept", True)

    def test_shows_who_was_not_let_in_the_newest_note_and_where_to_have_texts_deleted(self, client):
        writer = make_writer(state=WriterState.REFUSED)
        for note in ("An older note.", "You give advice <before> you listen."):
            make_admission(writer=writer, is_admitted=False, note=note)

        page = open_link(client, writer, follow=True).content.decode()

        assert "You give advice &lt;before&gt; you listen." in page
        assert "An older note." not in page
        assert reverse("writers:withdraw") in page


class TestConsentToEarlierWords:
    @pytest.fixture
    def writer(self, client):
        writer = make_writer()
        make_writer_consent(writer=writer, version="an earlier one")
        sign_in(client, writer)
        return writer

    @pytest.mark.parametrize("page", ["desk", "sent", "next"])
    def test_is_asked_about_again_before_anything_else(self, client, writer, page):
        asked = client.get(url(page), follow=True)

        assert asked.redirect_chain == [(url("consent"), 303)]
        assert "This text has changed since you agreed to it" in asked.content.decode()

    def test_needs_an_answer_and_is_replaced_by_agreeing_once(self, client, writer):
        assert client.post(url("consent"), {"choice": "perhaps"}).status_code == 422

        answers = [client.post(url("consent"), {"choice": "agree"}) for _ in range(2)]

        assert [answer["Location"] for answer in answers] == [url("desk")] * 2
        assert client.get(url("desk")).status_code == 200
        assert writer.consents.get(version=guidelines.VERSION).text_hash == consent_hash()

    def test_leads_to_the_ways_out_who_does_not_agree(self, client, writer):
        page = client.post(url("consent"), {"choice": "decline"}, follow=True)

        assert page.redirect_chain == [(url("leave"), 303)]
        assert reverse("writers:withdraw") in page.content.decode()
        assert not writer.consents.filter(version=guidelines.VERSION).exists()

    def test_keeps_what_was_typed_before_the_words_changed(self, client, writer):
        lease = make_writing_lease(writer=writer)

        client.post(url("draft", lease.token), {"text": "I hear you"})

        lease.refresh_from_db()
        assert lease.draft == "I hear you"

    @pytest.mark.parametrize(
        "who", [{"is_simulated": True}, {"state": WriterState.PAUSED}], ids=["simulated", "paused"]
    )
    def test_is_nothing_to_ask_some_about(self, client, writer, who):
        Writer.objects.filter(pk=writer.pk).update(**who)

        assert "Location" not in client.get(url("desk"))
        assert client.get(url("consent"))["Location"] == url("desk")

    def test_costs_no_query_more(self, client, writer, django_assert_num_queries):
        with django_assert_num_queries(1):
            client.get(url("desk"))


class TestProfile:
    @pytest.fixture
    def newcomer(self, client):
        writer = make_writer(state=WriterState.PROFILING, admitted_at=None)
        sign_in(client, writer)
        return writer

    def test_asks_one_question_and_nothing_else(self, client, newcomer):
        (form,) = [form for form in read_forms(client.get(url("profile"))) if form.choices]

        assert set(form.choices) == {"background"}
        assert set(form.choices["background"]) == set(Background.values)
        assert set(form.fields) <= {"background", "csrfmiddlewaretoken"}

    def test_offers_keeps_and_stores_a_rating_of_ones_own_where_the_pool_does(
        self, client, newcomer
    ):
        Dataset.objects.update(offers_own_systems=True)

        page = client.get(url("profile")).content.decode()
        without_answer = client.post(url("profile"), {"has_own_system": "on"}).content.decode()
        client.post(url("profile"), {"background": "PEER", "has_own_system": "on"})

        assert f"Supporter {newcomer.code}" in page
        boxes = [
            re.findall(r'<input [^>]*name="has_own_system"[^>]*>', one)
            for one in (page, without_answer)
        ]
        assert ["checked" in box for (box,) in boxes] == [False, True]
        newcomer.refresh_from_db()
        assert newcomer.has_own_system

    def test_leads_to_the_desk_where_there_is_no_trial(self, client, newcomer):
        answer = client.post(url("profile"), {"background": "CLINICIAN"}, follow=True)

        newcomer.refresh_from_db()
        assert (answer.redirect_chain, answer.status_code) == ([(url("desk"), 303)], 200)
        assert (newcomer.state, newcomer.background) == (WriterState.ACTIVE, "CLINICIAN")

    @pytest.mark.parametrize("payload", [{}, {"background": ""}, {"background": "KING"}])
    def test_without_an_answer_says_so_beside_the_question(self, client, newcomer, payload):
        page = client.post(url("profile"), payload)

        assert page.status_code == 422
        for said in (
            'aria-invalid="true" aria-describedby="id_background_error"',
            'id="id_background_error">Please choose one of the three',
            'href="#id_background_0"',
            'id="id_background_0"',
        ):
            assert said in page.content.decode()
        newcomer.refresh_from_db()
        assert newcomer.state == WriterState.PROFILING

    def test_comes_before_every_other_page_and_is_over_once_it_is_answered(self, client, newcomer):
        before = [client.get(url(name))["Location"] for name in ("desk", "next")]
        client.post(url("profile"), {"background": "PEER"})

        assert before == [url("profile")] * 2
        assert client.get(url("profile"))["Location"] == url("desk")


def test_signing_out_takes_a_post_makes_the_browser_forget_and_says_how_to_come_back(client):
    writer = make_writer()
    assert url("sign-out") not in client.get(url("help")).content.decode()
    sign_in(client, writer)
    assert url("sign-out") in client.get(url("help")).content.decode()
    assert client.get(url("sign-out"))["Location"] == url("desk")
    assert client.get(url("desk")).status_code == 200

    page = client.post(url("sign-out"), follow=True)

    assert page.redirect_chain == [(url("sign-out"), 303)]
    assert "personal link brings you back" in page.content.decode()
    assert client.cookies[COOKIE]["max-age"] == 0
    assert open_link(client, writer)["Location"] == url("desk")


def writers_addresses():
    token = make_writing_lease().token
    gets = [url("desk"), url("next"), url("profile"), url("dialogue", token)]
    posts = [url(name, token) for name in ("dialogue", "draft", "skip")]
    posts.append(reverse("writers:withdraw"))
    return [*(("get", one) for one in gets), *(("post", one) for one in posts)]


class TestIdentity:
    @pytest.mark.parametrize("cookie", [None, "", "W00001-1", "W00001-1~forged"])
    def test_without_a_valid_cookie_every_page_asks_for_the_link(self, client, cookie):
        if cookie is not None:
            client.cookies[COOKIE] = cookie

        for method, address in writers_addresses():
            page = getattr(client, method)(address)

            assert page.status_code == 403
            assert "open your personal link" in page.content.decode()
        assert not Message.objects.exists()

    def test_the_cookie_is_no_link_and_ends_with_the_link_it_came_from(self, client):
        writer = make_writer()
        client.cookies[COOKIE] = credential(writer, use="link")
        assert client.get(url("desk")).status_code == 403

        sign_in(client, writer)
        Writer.objects.update(link_version=writer.link_version + 1)

        assert client.get(url("desk")).status_code == 403

    def test_another_writers_dialogue_is_not_shown_nor_changed(self, client):
        other = make_writing_lease(draft="Mine alone")
        sign_in(client, make_writer())

        answers = [
            client.get(url("dialogue", other.token)),
            client.get(url("change", other.token)),
            client.post(url("dialogue", other.token), MESSAGE),
            client.post(url("draft", other.token), MESSAGE),
            client.post(url("skip", other.token), {"reason": "close"}),
        ]

        assert [answer.status_code for answer in answers] == [404] * 5
        assert all("Mine alone" not in answer.content.decode() for answer in answers)
        other.refresh_from_db()
        assert (other.draft, other.outcome) == ("Mine alone", "")
        assert not Message.objects.exists()

    @pytest.mark.parametrize(
        ("state", "words", "kept"),
        [
            (WriterState.LEFT, "You have left", ""),
            (WriterState.WITHDRAWN, "You have withdrawn", ""),
            (WriterState.PAUSED, "on pause", MESSAGE["text"]),
        ],
    )
    def test_who_may_not_write_sends_nothing_and_only_a_pause_keeps_what_is_on_its_way(
        self, client, state, words, kept
    ):
        lease = make_writing_lease(writer=make_writer(state=state))
        sign_in(client, lease.writer)

        client.post(url("draft", lease.token), MESSAGE)
        pages = [client.get(url(name)) for name in ("desk", "next", "sent")]
        pages += [client.get(url(name, lease.token)) for name in ("dialogue", "change")]
        pages += [client.post(url("dialogue", lease.token), MESSAGE)]

        assert [page.status_code for page in pages] == [403] * 6
        assert all(words in page.content.decode() for page in pages)
        assert not Message.objects.exists()
        lease.refresh_from_db()
        assert lease.draft == kept

    def test_no_page_is_left_in_a_cache(self, client):
        sign_in(client, make_pool())

        for address in (url("desk"), url("dialogue", take_dialogue(client).token), url("help")):
            assert "no-store" in client.get(address)["Cache-Control"]
