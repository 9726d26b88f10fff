"""The desk and the talk: what is shown, what is kept, what is sent."""

import datetime as dt

import pytest
from django.utils import timezone

from completions import services, wording
from completions.choices import LeaseOutcome
from completions.guidelines import FIVE_LINES
from completions.models import Completion, Context, WritingLease
from tests.factories import make_completion, make_context, make_dialogue, make_writer
from tests.web.visits import read_forms
from tests.web.writers import HTMX, MESSAGE, TEXT, make_pool, sign_in, take_talk, url

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture
def writer():
    return make_pool()


@pytest.fixture
def desk(client, writer):
    """The writer's browser, signed in."""
    sign_in(client, writer)
    return client


@pytest.fixture
def lease(desk):
    return take_talk(desk)


def shown(page):
    return page.content.decode()


def box(page):
    """What stands in the text box."""
    (form,) = [form for form in read_forms(page) if form.id == "message"]
    return form.fields["text"]


class TestDesk:
    def test_says_what_waits_and_what_to_do(self, desk):
        page = shown(desk.get(url("desk")))

        assert "2 talks are waiting" in page
        assert "Write the first one" in page
        assert all(line in page for line in FIVE_LINES)
        assert "Your messages appear here" in page

    def test_leads_back_to_a_draft(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "I was about to"})

        assert "Go on with your draft" in shown(desk.get(url("desk")))

    def test_shows_what_was_sent(self, desk, lease):
        desk.post(url("talk", lease.token), MESSAGE)

        page = shown(desk.get(url("desk")))

        assert "1 message so far" in page
        assert url("talk", lease.token) in page
        assert "1 talk is waiting" in page

    def test_explains_an_empty_desk(self, client):
        sign_in(client, make_writer())

        page = shown(client.get(url("desk")))

        assert "Nothing is waiting for you" in page
        assert url("next") not in page

    def test_leads_back_to_a_draft_whose_place_was_given_free(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "It took me a night to"})
        services.release_expired_writing_leases(now=timezone.now() + DAY)

        page = shown(desk.get(url("desk")))

        assert "Begun and not sent" in page
        assert "It took me a night to" in page
        assert url("talk", lease.token) in page

    def test_shows_a_message_that_was_not_written_here(self, desk, writer):
        context = make_context(dialogue=make_dialogue(dataset=writer.dataset))
        make_completion(context=context, writer=writer, text="Brought in from elsewhere.")

        assert "Brought in from elsewhere." in shown(desk.get(url("desk")))

    @pytest.mark.parametrize("n_sent", [1, 4])
    def test_costs_a_fixed_number_of_queries(self, desk, writer, n_sent, django_assert_num_queries):
        for _ in range(n_sent):
            context = make_context(dialogue=make_dialogue(dataset=writer.dataset))
            make_completion(context=context, writer=writer)

        # The writer; sent, open and held counts; the held lease; the sent texts; stranded drafts.
        with django_assert_num_queries(7):
            desk.get(url("desk"))


class TestNextTalk:
    def test_goes_to_the_talks_own_address(self, desk):
        answer = desk.get(url("next"))

        token = WritingLease.objects.get().token
        assert (answer.status_code, answer["Location"]) == (303, url("talk", token))

    def test_keeps_to_the_talk_that_was_begun(self, desk, lease):
        assert desk.get(url("next"))["Location"] == url("talk", lease.token)
        assert WritingLease.objects.count() == 1

    def test_explains_that_nothing_is_left(self, client):
        sign_in(client, make_writer())

        page = client.get(url("next"))

        assert page.status_code == 200
        assert "Nothing is waiting" in shown(page)


class TestTalk:
    def test_shows_the_dialogue_as_raters_see_it(self, desk, lease):
        page = shown(desk.get(url("talk", lease.token)))

        for turn in lease.context.turns:
            assert turn["text"] in page
        assert page.count('class="turn supporter"') == 1
        assert page.count('class="turn latest"') == 1

    def test_gives_nothing_away_about_the_context(self, desk, lease):
        make_completion(context=lease.context, text="What another has written already")

        page = shown(desk.get(url("talk", lease.token)))

        assert lease.context.key not in page
        assert "What another has written already" not in page

    def test_folds_a_long_dialogue(self, desk, lease):
        roles = ("seeker", "supporter")
        lease.context.turns = [
            {"role": roles[n % 2], "text": f"Turn {n} of eleven."} for n in range(11)
        ]
        lease.context.save(update_fields=["turns"])

        page = shown(desk.get(url("talk", lease.token)))

        assert "Show 5 earlier messages" in page
        assert page.index("Turn 4 of") < page.index("</details>") < page.index("Turn 5 of")

    def test_shows_the_counts_of_the_draft(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": TEXT})

        page = shown(desk.get(url("talk", lease.token)))

        assert f"<output data-words>{wording.count_words(TEXT)}</output>" in page
        assert "<output data-sentences>2</output>" in page

    @pytest.mark.parametrize(("n_words", "is_long"), [(60, False), (61, True)])
    def test_says_when_a_message_gets_long_and_lets_it_be_sent(self, desk, lease, n_words, is_long):
        text = "word " * n_words
        desk.post(url("draft", lease.token), {"text": text})

        assert ('class="counter long"' in shown(desk.get(url("talk", lease.token)))) is is_long
        assert desk.post(url("talk", lease.token), MESSAGE | {"text": text}).status_code == 303

    def test_costs_two_queries(self, desk, lease, django_assert_num_queries):
        with django_assert_num_queries(2):  # the writer; the lease with its context
            desk.get(url("talk", lease.token))


class TestDraft:
    def test_survives_a_reload(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half a sen"})

        assert box(desk.get(url("talk", lease.token))) == "Half a sen"

    def test_follows_the_writer_to_another_device(self, client, writer, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half a sen"})
        client.cookies.clear()
        sign_in(client, writer)

        page = client.get(url("next"), follow=True)

        assert box(page) == "Half a sen"

    def test_answers_a_script_without_a_page(self, desk, lease):
        answer = desk.post(url("draft", lease.token), {"text": "Half"}, headers=HTMX)

        assert (answer.status_code, answer.content) == (204, b"")

    def test_is_kept_when_the_place_was_given_free(self, desk, lease):
        services.release_expired_writing_leases(now=timezone.now() + DAY)

        desk.post(url("draft", lease.token), {"text": "Still typing"}, headers=HTMX)

        assert box(desk.get(url("talk", lease.token))) == "Still typing"

    def test_that_arrives_after_the_message_changes_nothing(self, desk, lease):
        desk.post(url("talk", lease.token), MESSAGE)

        desk.post(url("draft", lease.token), {"text": "Late"}, headers=HTMX)

        assert TEXT in shown(desk.get(url("talk", lease.token)))

    @pytest.mark.parametrize(
        ("typed", "kept"),
        [
            pytest.param("one\r\ntwo", "one\ntwo", id="line ends of a browser"),
            pytest.param("one\0two", "onetwo", id="a character that no database takes"),
            pytest.param(" spaced ", " spaced ", id="spaces as typed"),
            pytest.param("x" * 5000, "x" * wording.MAX_CHARACTERS, id="far too long"),
        ],
    )
    def test_is_kept_as_it_was_typed(self, desk, lease, typed, kept):
        desk.post(url("draft", lease.token), {"text": typed})

        lease.refresh_from_db()
        assert lease.draft == kept

    def test_without_a_text_empties_the_box(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half"})

        assert desk.post(url("draft", lease.token)).status_code == 303
        assert box(desk.get(url("talk", lease.token))) == ""


class TestSending:
    def test_stores_the_message_and_says_so(self, desk, writer, lease):
        answer = desk.post(url("talk", lease.token), MESSAGE, follow=True)

        assert answer.redirect_chain == [(url("talk", lease.token), 303)]
        assert "Sent, thank you" in shown(answer)
        assert TEXT in shown(answer)
        assert url("next") in shown(answer)
        completion = Completion.objects.get(writer=writer)
        assert (completion.text, completion.system.slug) == (TEXT, "human")

    def test_sends_a_script_to_the_page_that_says_so(self, desk, lease):
        answer = desk.post(url("talk", lease.token), MESSAGE, headers=HTMX)

        assert answer["HX-Redirect"] == url("talk", lease.token)

    @pytest.mark.parametrize(
        ("payload", "message", "control"),
        [
            pytest.param({"text": ""}, "at least 3 words", "id_text", id="empty"),
            pytest.param({"text": "   \n "}, "at least 3 words", "id_text", id="blank"),
            pytest.param({"text": "?!... --"}, "at least 3 words", "id_text", id="no words"),
            pytest.param({"text": "So sorry"}, "at least 3 words", "id_text", id="too short"),
            pytest.param({"text": "word " * 151}, "150 is the most", "id_text", id="too long"),
            pytest.param({"text": "ab " * 1400}, "is the most", "id_text", id="far too long"),
            pytest.param(
                {"text": TEXT, "is_own_words": ""},
                "these are your own words",
                "id_is_own_words",
                id="not declared",
            ),
        ],
    )
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_what_cannot_be_sent_stays_in_the_box(
        self, desk, lease, payload, message, control, headers
    ):
        page = desk.post(
            url("talk", lease.token), {"is_own_words": "on"} | payload, headers=headers
        )

        assert page.status_code == 422
        assert message in shown(page)
        assert f'href="#{control}"' in shown(page)
        assert box(page) == payload["text"]
        assert ("<!doctype html>" in shown(page)) is not bool(headers)
        assert not Completion.objects.exists()
        lease.refresh_from_db()
        assert lease.draft == payload["text"][: wording.MAX_CHARACTERS]

    def test_names_everything_that_is_missing_at_once(self, desk, lease):
        page = shown(desk.post(url("talk", lease.token), {"text": ""}))

        assert 'href="#id_text"' in page
        assert 'href="#id_is_own_words"' in page

    def test_twice_stores_one_message(self, desk, lease):
        for text in (TEXT, "Another text from a second tab."):
            answer = desk.post(url("talk", lease.token), MESSAGE | {"text": text}, follow=True)

            assert TEXT in shown(answer)
        assert Completion.objects.get().text == TEXT

    def test_a_bad_second_attempt_shows_what_was_sent(self, desk, lease):
        desk.post(url("talk", lease.token), MESSAGE)

        answer = desk.post(url("talk", lease.token), {"text": ""}, follow=True)

        assert answer.status_code == 200
        assert "Sent, thank you" in shown(answer)

    def test_still_works_after_the_place_was_given_free(self, desk, lease):
        services.release_expired_writing_leases(now=timezone.now() + DAY)

        answer = desk.post(url("talk", lease.token), MESSAGE, follow=True)

        assert "Sent, thank you" in shown(answer)
        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED

    def test_shows_the_text_again_when_others_have_filled_the_place(self, desk, lease):
        services.release_expired_writing_leases(now=timezone.now() + DAY)
        Context.objects.filter(pk=lease.context_id).update(slots_left=0)

        answers = [desk.post(url("talk", lease.token), MESSAGE), desk.get(url("talk", lease.token))]

        assert [answer.status_code for answer in answers] == [409, 409]
        assert all(TEXT in shown(answer) for answer in answers)
        assert not Completion.objects.exists()

    def test_markup_in_a_message_is_shown_as_text(self, desk, lease):
        text = "I hear <b>you</b>, <script>alert(1)</script> truly."

        page = desk.post(url("talk", lease.token), MESSAGE | {"text": text}, follow=True)

        assert "<script>alert" not in shown(page)
        assert "&lt;script&gt;" in shown(page)

    def test_costs_few_queries(self, desk, lease, django_assert_max_num_queries):
        # Two reads, the draft in its own transaction, then locks and rows of the message; the
        # first message of all adds the human system.
        with django_assert_max_num_queries(18):
            desk.post(url("talk", lease.token), MESSAGE)


class TestSkipping:
    def test_gives_the_talk_back_with_the_reason_and_goes_on(self, desk, lease):
        answer = desk.post(url("skip", lease.token), {"reason": "close"})

        assert (answer.status_code, answer["Location"]) == (303, url("next"))
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "close")
        assert take_talk(desk).context_id != lease.context_id

    @pytest.mark.parametrize("payload", [{}, {"reason": ""}, {"reason": "no such"}])
    def test_without_a_reason_that_is_offered_stays_at_the_talk(self, desk, lease, payload):
        answer = desk.post(url("skip", lease.token), payload)

        assert (answer.status_code, answer["Location"]) == (303, url("talk", lease.token))
        lease.refresh_from_db()
        assert lease.closed_at is None

    def test_can_be_thought_better_of(self, desk, lease):
        desk.post(url("skip", lease.token), {"reason": "speechless"})

        assert box(desk.get(url("talk", lease.token))) == ""
        assert "Sent" in shown(desk.post(url("talk", lease.token), MESSAGE, follow=True))


class TestHelp:
    def test_is_open_to_everyone(self, client):
        page = client.get(url("help"))

        assert page.status_code == 200
        assert "findahelpline.com" in shown(page)
        assert f'href="{url("desk")}"' not in shown(page)

    def test_leads_a_writer_back(self, desk):
        assert f'href="{url("desk")}"' in shown(desk.get(url("help")))

    def test_is_one_click_away_on_every_page(self, desk, lease):
        for address in (url("desk"), url("talk", lease.token), url("help")):
            assert f'href="{url("help")}"' in shown(desk.get(address))


@pytest.mark.parametrize(
    ("name", "method"),
    [("desk", "post"), ("next", "post"), ("draft", "get"), ("skip", "get"), ("talk", "put")],
)
def test_an_address_refuses_methods_that_it_does_not_have(desk, lease, name, method):
    args = () if name in ("desk", "next") else (lease.token,)

    assert getattr(desk, method)(url(name, *args)).status_code == 405


def test_the_whole_way_works_by_the_forms_of_the_pages_alone(client):
    """From the link to the next talk, posting only what the pages' own forms hold."""
    writer = make_pool()
    page = client.get(url("desk"), follow=True)
    assert page.status_code == 403
    sign_in(client, writer)

    page = client.get(url("next"), follow=True)
    address = page.redirect_chain[-1][0]
    form = next(form for form in read_forms(page) if form.id == "message")
    assert form.action == address
    assert f'formaction="{address}draft/"' in shown(page)
    page = client.post(f"{address}draft/", form.fields | {"text": TEXT}, follow=True)
    form = next(form for form in read_forms(page) if form.id == "message")
    assert form.fields["text"] == TEXT
    page = client.post(form.action, form.fields | {"is_own_words": "on"}, follow=True)

    assert "Sent, thank you" in shown(page)
    next_page = client.get(url("next"), follow=True)
    skip = next(form for form in read_forms(next_page) if form.action.endswith("skip/"))
    (name, value) = skip.buttons[0]
    page = client.post(skip.action, skip.fields | {name: value}, follow=True)
    assert "Nothing is waiting" in shown(page)
