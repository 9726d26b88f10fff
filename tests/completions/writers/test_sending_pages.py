"""Drafts, messages and skips: what is kept, what is sent, what stays in the box."""

import datetime as dt

import pytest
from django.utils import timezone

from completions.choices import LeaseOutcome, MessageState
from completions.models import Context, Message
from completions.writers.services.leasing import release_expired_writing_leases
from tests.completions.writers.desk import (
    HTMX,
    MESSAGE,
    TEXT,
    box,
    make_pool,
    shown,
    sign_in,
    take_dialogue,
    url,
)
from tests.helpers.visits import read_forms

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture
def writer():
    return make_pool()


def message_form(page):
    (form,) = [form for form in read_forms(page) if form.id == "message"]
    return form


class TestDraft:
    def test_survives_a_reload_and_follows_the_writer_to_another_device(
        self, client, writer, desk, lease
    ):
        answer = desk.post(url("draft", lease.token), {"text": "Half a sen"}, headers=HTMX)
        reloaded = box(desk.get(url("dialogue", lease.token)))
        client.cookies.clear()
        sign_in(client, writer)

        assert (answer.status_code, answer.content) == (204, b"")
        assert (reloaded, box(client.get(url("next"), follow=True))) == ("Half a sen", "Half a sen")

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "script"])
    def test_that_arrives_after_the_message_changes_nothing_and_is_given_back(
        self, desk, lease, headers
    ):
        desk.post(url("dialogue", lease.token), MESSAGE)

        late = desk.post(
            url("draft", lease.token), {"text": "Late", "version": "0"}, headers=headers
        )

        assert late.status_code == 409
        assert "Late" in shown(late)
        lease.refresh_from_db()
        assert lease.draft == ""

    @pytest.mark.parametrize(
        ("posted", "kept"),
        [
            pytest.param({}, (0, 0, 0), id="missing"),
            pytest.param(
                {"typing_ms": "4200", "pastes": "1", "pasted_characters": "88"},
                (4200, 1, 88),
                id="plain",
            ),
            pytest.param(
                {"typing_ms": "-5", "pastes": "1.5", "pasted_characters": "\u0663"},
                (0, 0, 0),
                id="no plain numbers",
            ),
            pytest.param(
                {"typing_ms": "9" * 12, "pastes": "99999", "pasted_characters": "9" * 4000},
                (2**31 - 1, 2**15 - 1, 0),
                id="absurd",
            ),
        ],
    )
    def test_comes_with_signals_that_are_bounded(self, desk, lease, posted, kept):
        answer = desk.post(url("draft", lease.token), {"text": "Half"} | posted, headers=HTMX)

        assert answer.status_code == 204
        lease.refresh_from_db()
        assert (lease.typing_ms, lease.pastes, lease.pasted_characters) == kept

    def test_goes_on_counting_from_the_signals_that_the_page_was_given(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half", "typing_ms": "4200"})

        form = message_form(desk.get(url("dialogue", lease.token)))

        assert (form.fields["typing_ms"], form.fields["pastes"]) == ("4200", "0")

    @pytest.mark.parametrize(
        ("typed", "kept"),
        [
            pytest.param("one\r\ntwo", "one\ntwo", id="line ends of a browser"),
            pytest.param("one\0two", "onetwo", id="a character that no database takes"),
            pytest.param(" spaced ", " spaced ", id="spaces as typed"),
            pytest.param("x" * 5000, "x" * 5000, id="far too long"),
        ],
    )
    def test_is_kept_as_it_was_typed(self, desk, lease, typed, kept):
        desk.post(url("draft", lease.token), {"text": typed})

        lease.refresh_from_db()
        assert lease.draft == kept

    def test_without_a_text_empties_the_box(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half"})

        assert desk.post(url("draft", lease.token)).status_code == 303
        assert box(desk.get(url("dialogue", lease.token))) == ""


class TestSending:
    def test_twice_stores_the_message_once_and_says_so(self, desk, writer, lease):
        answers = [desk.post(url("dialogue", lease.token), MESSAGE, follow=True) for _ in range(2)]

        for answer in answers:
            assert answer.redirect_chain == [(url("dialogue", lease.token), 303)]
            assert "Sent, thank you" in shown(answer)
            assert TEXT in shown(answer)
            assert url("next") in shown(answer)
        message = Message.objects.get(lease__writer=writer)
        assert (message.state, message.revisions.get().text) == (MessageState.WAITING, TEXT)

    def test_sends_a_script_to_the_page_that_says_so(self, desk, lease):
        answer = desk.post(url("dialogue", lease.token), MESSAGE, headers=HTMX)

        assert answer["HX-Redirect"] == url("dialogue", lease.token)

    @pytest.mark.parametrize(
        ("payload", "message", "controls"),
        [
            pytest.param({"text": "   \n "}, "at least 3 words", ["id_text"], id="blank"),
            pytest.param({"text": "So sorry"}, "at least 3 words", ["id_text"], id="too short"),
            pytest.param({"text": "word " * 151}, "150 is the most", ["id_text"], id="too long"),
            pytest.param({"text": "ab " * 1400}, "is the most", ["id_text"], id="far too long"),
            pytest.param(
                {"text": TEXT, "is_own_words": ""},
                "these are your own words",
                ["id_is_own_words"],
                id="not declared",
            ),
            pytest.param(
                {"text": "", "is_own_words": ""},
                "at least 3 words",
                ["id_text", "id_is_own_words"],
                id="empty",
            ),
        ],
    )
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_what_cannot_be_sent_stays_in_the_box_with_all_that_is_wrong(
        self, desk, lease, payload, message, controls, headers
    ):
        page = desk.post(
            url("dialogue", lease.token), {"is_own_words": "on"} | payload, headers=headers
        )

        assert page.status_code == 422
        assert message in shown(page)
        assert all(f'href="#{control}"' in shown(page) for control in controls)
        assert box(page) == payload["text"]
        assert ("<!doctype html>" in shown(page)) is not bool(headers)
        assert not Message.objects.exists()
        lease.refresh_from_db()
        assert lease.draft == payload["text"]

    def test_shows_the_text_again_when_others_have_filled_the_place(self, desk, lease):
        release_expired_writing_leases(now=timezone.now() + DAY)
        Context.objects.filter(pk=lease.context_id).update(slots_left=0)

        answers = [
            desk.post(url("dialogue", lease.token), MESSAGE),
            desk.get(url("dialogue", lease.token)),
        ]

        assert [answer.status_code for answer in answers] == [409, 409]
        assert all(TEXT in shown(answer) for answer in answers)
        assert not Message.objects.exists()

    def test_markup_in_a_message_is_shown_as_text(self, desk, lease):
        text = "I hear <b>you</b>, <script>alert(1)</script> truly."

        page = desk.post(url("dialogue", lease.token), MESSAGE | {"text": text}, follow=True)

        assert "<script>alert" not in shown(page)
        assert "&lt;script&gt;" in shown(page)

    def test_costs_few_queries(self, desk, lease, django_assert_max_num_queries):
        # Two reads, the draft in its own transaction, the texts to compare with, then locks and
        # rows of the message: see tests/completions/writers/test_sending.py.
        with django_assert_max_num_queries(22):
            desk.post(url("dialogue", lease.token), MESSAGE)


class TestSkipping:
    def test_gives_the_dialogue_back_with_the_reason_and_goes_on(self, desk, lease):
        answer = desk.post(url("skip", lease.token), {"reason": "close"})

        assert (answer.status_code, answer["Location"]) == (303, url("next"))
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "close")
        assert take_dialogue(desk).context_id != lease.context_id

    @pytest.mark.parametrize("payload", [{}, {"reason": ""}, {"reason": "no such"}])
    def test_without_a_reason_that_is_offered_stays_at_the_dialogue(self, desk, lease, payload):
        answer = desk.post(url("skip", lease.token), payload)

        assert (answer.status_code, answer["Location"]) == (303, url("dialogue", lease.token))
        lease.refresh_from_db()
        assert lease.closed_at is None

    def test_can_be_thought_better_of(self, desk, lease):
        desk.post(url("skip", lease.token), {"reason": "speechless"})

        assert box(desk.get(url("dialogue", lease.token))) == ""
        assert "Sent" in shown(desk.post(url("dialogue", lease.token), MESSAGE, follow=True))


def test_the_whole_way_works_by_the_forms_of_the_pages_alone(desk):
    """From the desk to the next dialogue, posting only what the pages' own forms hold."""
    page = desk.get(url("next"), follow=True)
    address = page.redirect_chain[-1][0]
    form = message_form(page)
    assert form.action == address
    assert f'formaction="{address}draft/"' in shown(page)
    page = desk.post(f"{address}draft/", form.fields | {"text": TEXT}, follow=True)
    form = message_form(page)
    assert form.fields["text"] == TEXT
    page = desk.post(form.action, form.fields | {"is_own_words": "on"}, follow=True)

    assert "Sent, thank you" in shown(page)
    next_page = desk.get(url("next"), follow=True)
    skip = next(form for form in read_forms(next_page) if form.action.endswith("skip/"))
    (name, value) = skip.buttons[0]
    page = desk.post(skip.action, skip.fields | {name: value}, follow=True)
    assert "Nothing is waiting" in shown(page)
