"""The loop: a pair, an answer, the next pair; for both protocols, with and without scripts."""

import datetime as dt
import html
import re
import uuid
from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from django.test import Client

from annotation.choices import Side
from annotation.models import Judgment, Lease
from annotation.session.blinded import SessionProgress, StudyPage
from annotation.templatetags.fragments import swapped_progress
from completions.models import Context
from tests.annotation.session.steps import let_in, show_pair, submit
from tests.helpers.factories import make_comparison, make_completion, make_context, make_dialogue
from tests.helpers.visits import ANSWERS, HTMX, open_study, read_forms, url

pytestmark = pytest.mark.django_db


class TestChips:
    """Reasons in plain words, which a rater ticks."""

    SHOWN = re.compile(r'name="chips" value="([a-z-]+)"( checked)?')

    def chips(self, answer):
        return self.SHOWN.findall(answer.content.decode())

    @pytest.fixture
    def study(self):
        return open_study("rubric")

    def test_are_stored_shown_again_and_changed_by_a_revision(self, client, study, lease):
        for chips in (["pushy", "heard"], ["heard", "pushy"], ["warm"]):
            submit(client, study, lease, ANSWERS["rubric"] | {"chips": chips})

        assert [one.chips for one in Judgment.objects.order_by("pk")] == ["heard pushy", "warm"]
        again = client.get(url(study, "last"))
        assert {key for key, checked in self.chips(again) if checked} == {"warm"}

    def test_that_the_study_does_not_have_are_refused(self, client, study, lease):
        answer = submit(client, study, lease, ANSWERS["rubric"] | {"chips": ["heard", "x"]})

        assert answer.status_code == 422
        assert b'href="#id_chips_0"' in answer.content
        assert b'id="id_chips_0"' in answer.content
        assert not Judgment.objects.exists()

    def test_stay_in_the_places_of_the_rater_on_every_page(self, client, study, rater, lease):
        submit(client, study, lease, ANSWERS["rubric"])

        pages = [client.get(url(study, name)) for name in ("how", "judge", "last")]

        words = StudyPage.from_study(study)
        keys = [chip.key for chip in words.chips_in(words.chip_order(rater.code))]
        assert [[key for key, _ in self.chips(page)] for page in pages] == [keys] * 3

    def test_change_their_places_from_one_rater_to_another(self, study):
        page = StudyPage.from_study(study)

        orders = [page.chips_in(page.chip_order(f"R-{n}")) for n in range(8)]

        assert len(set(map(frozenset, orders))) == 1
        assert len({order[0] for order in orders}) > 1


@pytest.mark.parametrize("is_pair", [True, False])
@pytest.mark.parametrize(
    "progress",
    [
        SessionProgress(done=0, total=40, minutes_left=40),
        SessionProgress(done=39, total=40, minutes_left=1),
        SessionProgress(done=40, total=40, minutes_left=1),
        SessionProgress(done=1234, total=5000, minutes_left=9),
        SessionProgress(done=1, total=3, minutes_left=2, is_screening=True),
    ],
)
def test_progress_tells_raters_at_other_places_their_own_numbers(progress, is_pair):
    swapped_progress(replace(progress, done=progress.done + 1), is_pair=is_pair)

    shown = {"progress": progress, "comparison": {"message_b": is_pair}, "swap": True}
    whole = render_to_string("annotation/_progress.html", shown)
    assert swapped_progress(progress, is_pair=is_pair) == whole


class TestJudge:
    def test_htmx_gets_the_fragment_and_a_browser_gets_the_page(self, client, study, rater):
        page = client.get(url(study, "judge"))
        fragment = client.get(url(study, "judge"), headers=HTMX)

        assert page.content.startswith(b"<!doctype html>")
        assert b"<!doctype html>" not in fragment.content
        for answer in (page, fragment):
            assert "<title>Pair 1 of 40" in answer.content.decode()
            assert "about 40 minutes left" in answer.content.decode()
            assert '<section id="stage"' in answer.content.decode()
            assert "HX-Request" in answer["Vary"]
            assert answer["Cache-Control"] == "no-store"
        brought = fragment.content.decode()
        assert '<div id="progress" hx-swap-oob="true">' in brought
        assert '<p hx-swap-oob="innerHTML:#status">' in brought  # the live region itself stays

    def test_shows_the_dialogue_and_both_messages_on_the_sides_drawn(self, client, study, lease):
        Lease.objects.update(first_side=Side.B)

        page = client.get(url(study, "judge")).content.decode()

        first, second = lease.comparison.first.text, lease.comparison.second.text
        assert page.index(second) < page.index(first)
        assert lease.comparison.context.turns[-1]["text"] in page
        assert Lease.objects.get() == lease

    def test_says_so_when_the_seeker_is_simulated(self, client, study, lease):
        said = "Test data: this person’s messages were written by a program."
        assert said not in client.get(url(study, "judge")).content.decode()

        Context.objects.filter(pk=lease.comparison.context_id).update(is_simulated=True)

        assert said in client.get(url(study, "judge")).content.decode()

    def test_long_dialogue_is_folded_to_its_last_turns(self, client, study, rater):
        roles = ["seeker", "supporter"] * 8 + ["seeker"]
        texts = [f"said {n}".ljust(40, ".") for n in range(len(roles))]
        turns = [{"role": role, "text": text} for role, text in zip(roles, texts, strict=True)]
        context = make_context(dialogue=make_dialogue(dataset=study.dataset), turns=turns)
        study.comparisons.all().update(slots_left=0)
        make_comparison(study=study, first=make_completion(context=context))

        page = client.get(url(study, "judge")).content.decode()

        folded = page[page.index("<details") : page.index("</details>")]
        assert "Show 12 earlier messages" in folded
        assert "said 11" in folded
        assert "said 12" not in folded
        assert page.count("said ") == len(turns)

    def test_preference_study_has_no_word_of_the_rubric(self, client, study, rater):
        pages = [client.get(url(study, name)) for name in ("how", "judge", "help")]
        pages.append(Client().get(url(study, "entry")))
        shown = " ".join(page.content.decode() for page in pages).casefold()

        words = [dimension["name"] for dimension in study.content["rubric"]["dimensions"]]
        assert 'name="chips"' not in shown
        assert not [word for word in (*words, "rubric", "dimension") if word.casefold() in shown]

    @pytest.mark.parametrize("kind", ["rubric"])
    def test_rubric_study_has_a_row_for_each_dimension_with_its_meaning(self, client, study, rater):
        page = client.get(url(study, "judge")).content.decode()

        for dimension in study.content["rubric"]["dimensions"]:
            assert page.count(dimension["name"]) == 1
            assert html.escape(dimension["in_short"]) in page
        assert url(study, "rubric") in page


class TestSubmit:
    def test_htmx_post_is_answered_with_the_next_pair(self, client, study, lease):
        answer = submit(client, study, lease, ANSWERS["preference"], headers=HTMX)

        following = Lease.objects.get(closed_at=None)
        assert answer.status_code == 200
        assert str(following.token) in answer.content.decode()
        assert str(lease.token) not in answer.content.decode()
        assert "Pair 2 of 40" in answer.content.decode()
        assert "Your answer is saved." in answer.content.decode()

    @pytest.mark.parametrize("kind", ANSWERS)
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_what_was_typed_comes_back_when_something_is_missing(
        self, client, kind, headers, study, lease
    ):
        typed = ANSWERS[kind] | {"rationale": "<b>tiny</b>"}
        typed.pop(next(iter(typed)))

        page = submit(client, study, lease, typed, headers=headers)

        assert page.status_code == 422
        form = next(form for form in read_forms(page) if form.id == "answer")
        assert {name: form.fields.get(name) for name in typed} == typed
        assert "&lt;b&gt;tiny&lt;/b&gt;" in page.content.decode()

    @pytest.mark.parametrize(
        ("kind", "n_missing"), [("preference", 2), ("rubric", 2), ("likert", 5)]
    )
    def test_errors_lead_to_controls_that_are_on_the_page(self, client, study, lease, n_missing):
        page = submit(client, study, lease, {}).content.decode()

        summary = page.partition('id="errors"')[2].partition("</ul>")[0]
        targets = re.findall(r'href="#([^"]+)"', summary)
        assert len(targets) == n_missing
        for target in targets:
            assert re.search(rf'<(input|textarea)[^>]* id="{target}"', page)
        for described in re.findall(r'aria-describedby="([^"]+)"', page):
            assert all(f'id="{one}"' in page for one in described.split())

    @pytest.mark.parametrize(("opened", "kept"), [("1", True), ("0", False), ("", None)])
    def test_keeps_what_the_page_reports(self, client, study, lease, opened, kept):
        Lease.objects.update(issued_at=lease.issued_at - dt.timedelta(seconds=60))
        reported = {"hidden_ms": "1500", "opened_earlier": opened}

        submit(client, study, lease, ANSWERS["preference"] | reported)

        judgment = Judgment.objects.get()
        assert (judgment.hidden_ms, judgment.opened_earlier) == (1500, kept)

    def test_token_of_an_answer_serves_the_next_one_and_its_cookie_is_not_sent_anew(self, study):
        client = Client(enforce_csrf_checks=True)
        let_in(client, study)
        page = client.get(url(study, "judge")).content.decode()

        tokens = []
        for _ in range(2):
            action = re.search(r'<form id="answer"[^>]*? action="([^"]+)"', page, re.DOTALL)[1]
            tokens.append(re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1])
            posted = {**ANSWERS["preference"], "csrfmiddlewaretoken": tokens[-1]}
            answer = client.post(action, posted, headers=HTMX)
            assert answer.status_code == 200
            assert not answer.cookies
            page = answer.content.decode()

        assert tokens[0] == tokens[1]
        assert Judgment.objects.count() == 2
        assert tokens[0] not in client.get(url(study, "judge")).content.decode()


class TestForeseen:
    """What would follow an answer, for a page far from the site."""

    def stage(self, answer, lease):
        """Return the pair of an answer, without what only a pair that was assigned has."""
        page = answer.content.decode().replace(str(lease.token), "TOKEN")
        page = re.sub(r'<p class="toast">.*?</p>|name="csrfmiddlewaretoken" value="\w+"', "", page)
        return page[page.index("<section") :]

    @pytest.mark.parametrize("kind", ANSWERS)
    def test_is_the_pair_that_the_answer_brings_without_its_token(self, client, kind, study, lease):
        ahead = client.get(url(study, "foreseen", lease.token), headers=HTMX)
        answer = submit(client, study, lease, ANSWERS[kind], headers=HTMX)

        assert ahead.status_code == 200
        assert "no-store" in ahead["Cache-Control"]
        assert not re.search(r"is saved|toast", ahead.content.decode())
        following = Lease.objects.get(closed_at=None)
        assert str(following.token) not in ahead.content.decode()
        token = re.search(r'data-keep="([^"]+)"', ahead.content.decode())
        assert token is not None
        assert self.stage(ahead, Lease(token=token[1])) == self.stage(answer, following)

    def test_is_nothing_after_the_last_pair(self, client):
        study = open_study(n_pairs=1)
        let_in(client, study)
        lease = show_pair(client, study)

        assert client.get(url(study, "foreseen", lease.token)).status_code == 204

    def test_is_nothing_for_whoever_has_another_pair(self, client, study, lease):
        let_in(other := Client(), study)

        assert other.get(url(study, "foreseen", lease.token)).status_code == 204
        assert other.get(url(study, "foreseen", uuid.uuid4())).status_code == 204


class TestLast:
    def test_shows_the_answer_that_was_given(self, client, study, lease):
        assert url(study, "last") not in client.get(url(study, "judge")).content.decode()
        assert client.get(url(study, "last"))["Location"] == url(study, "judge")
        submit(client, study, lease, ANSWERS["preference"])

        page = client.get(url(study, "last"))

        form = next(form for form in read_forms(page) if form.id == "answer")
        assert form.action == url(study, "submit", lease.token)
        assert ANSWERS["preference"].items() <= form.fields.items()
        assert url(study, "last") in client.get(url(study, "judge")).content.decode()

    def test_changed_answer_is_a_revision_and_the_loop_goes_on(self, client, study, lease):
        submit(client, study, lease, ANSWERS["preference"])
        waiting = show_pair(client, study)

        page = submit(client, study, lease, {"verdict": "1"})  # without a reason
        submit(client, study, lease, ANSWERS["preference"] | {"verdict": "-1"})

        assert page.status_code == 422
        assert ">Save</button>" in page.content.decode()
        old, new = Judgment.objects.order_by("pk")
        assert new.revises == old
        assert show_pair(client, study) == waiting


@pytest.mark.parametrize("kind", ["likert"])
def test_likert_study_speaks_of_replies_not_of_pairs(client, study, rater):
    page = client.get(url(study, "judge")).content.decode()

    assert "<title>Reply 1 of 40" in page
    assert "Skip" in page
    assert "pair" not in re.sub(r"<[^>]+>", " ", page).casefold().replace("repair", "")


def test_address_of_a_post_leads_on_whoever_follows_it(client, study, lease):
    of_pairs = [url(study, name, lease.token) for name in ("submit", "skip", "report")]

    answers = [client.get(address) for address in (*of_pairs, url(study, "finish"))]
    consent = client.get(url(study, "consent"))

    led = {(answer.status_code, answer["Location"]) for answer in answers}
    assert led == {(303, url(study, "judge"))}
    assert (consent.status_code, consent["Location"]) == (303, url(study, "entry"))
