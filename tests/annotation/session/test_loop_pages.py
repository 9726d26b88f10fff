"""The loop: a pair, an answer, the next pair; for both protocols, with and without scripts."""

import datetime as dt
import html
import re
import uuid

import pytest
from django.test import Client

from annotation.choices import ReportKind, Side
from annotation.judging import services
from annotation.models import DimensionMark, Judgment, Lease, Report
from completions.choices import LeaseOutcome
from completions.models import Context
from tests.conftest import rolled_back
from tests.helpers.factories import make_comparison, make_completion, make_context, make_dialogue
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db
BOTH = pytest.mark.parametrize("kind", ["preference", "rubric"])


OPENED = {"1": True, "0": False, "": None, "2": None, "yes": None}
"""What a page reports of folded turns, and what of it is kept."""
HIDDEN_MS = {"1500": 1500, "-3": 0, "99999999999": 0, "NaN": 0, "": 0}
"""What a page reports as hidden time, and what of it is kept."""


def show_pair(client, study):
    """Open the judging page, and return the lease behind it."""
    assert client.get(url(study, "judge")).status_code == 200
    return Lease.objects.get(closed_at=None)


def submit(client, study, lease, fields, **options):
    return client.post(url(study, "submit", lease.token), fields, **options)


@pytest.fixture
def study():
    return open_study()


@pytest.fixture
def rater(client, study):
    return enrol(client, study)


class TestChips:
    """Reasons in plain words, which a rater ticks."""

    SHOWN = re.compile(r'name="chips" value="([a-z-]+)"( checked)?')

    def chips(self, answer):
        return self.SHOWN.findall(answer.content.decode())

    @pytest.fixture
    def study(self):
        return open_study("rubric")

    def test_are_stored_with_the_answer_and_shown_with_it_again(self, client, study, rater):
        lease = show_pair(client, study)

        submit(client, study, lease, ANSWERS["rubric"] | {"chips": ["pushy", "heard"]})

        assert Judgment.objects.get().chips == "heard pushy"
        again = client.get(url(study, "last"))
        assert {key for key, checked in self.chips(again) if checked} == {"heard", "pushy"}

    def test_changed_alone_make_a_revision(self, client, study, rater):
        lease = show_pair(client, study)

        for chips in (["heard"], ["heard"], ["warm"]):
            submit(client, study, lease, ANSWERS["rubric"] | {"chips": chips})

        assert [one.chips for one in Judgment.objects.order_by("pk")] == ["heard", "warm"]

    def test_that_the_study_does_not_have_are_refused(self, client, study, rater):
        lease = show_pair(client, study)

        answer = submit(client, study, lease, ANSWERS["rubric"] | {"chips": ["heard", "x"]})

        assert answer.status_code == 422
        assert b'href="#id_chips_0"' in answer.content
        assert b'id="id_chips_0"' in answer.content
        assert not Judgment.objects.exists()

    def test_stay_in_their_places_for_a_rater_and_change_them_from_one_to_another(self):
        study = open_study("rubric", n_pairs=8)
        orders = set()
        for _ in range(8):
            client = Client()
            enrol(client, study)
            seen = [[key for key, _ in self.chips(client.get(url(study, "judge")))]]
            lease = Lease.objects.filter(closed_at=None).latest("pk")
            submit(client, study, lease, ANSWERS["rubric"])
            seen += [
                [key for key, _ in self.chips(client.get(url(study, name)))]
                for name in ("how", "judge", "last")
            ]
            assert all(one == seen[0] for one in seen)
            orders.add(tuple(seen[0]))

        assert len({frozenset(order) for order in orders}) == 1
        assert len({order[0] for order in orders}) > 1

    def test_are_not_on_the_page_of_a_study_without(self, client):
        study = open_study("preference")
        enrol(client, study)

        assert not self.chips(client.get(url(study, "judge")))


class TestJudge:
    @BOTH
    def test_htmx_gets_the_fragment_and_a_browser_gets_the_page(self, client, kind):
        study = open_study(kind)
        enrol(client, study)

        page = client.get(url(study, "judge"))
        fragment = client.get(url(study, "judge"), headers=HTMX)

        assert page.content.startswith(b"<!doctype html>")
        assert b'<section id="stage"' in page.content
        assert b"<!doctype html>" not in fragment.content
        assert b'<section id="stage"' in fragment.content
        for answer in (page, fragment):
            assert "HX-Request" in answer["Vary"]
            assert answer["Cache-Control"] == "no-store"

    def test_fragment_brings_title_progress_and_status_along(self, client, study, rater):
        fragment = client.get(url(study, "judge"), headers=HTMX).content.decode()

        assert "<title>Pair 1 of 40" in fragment
        assert re.search(r'<div id="progress" hx-swap-oob="true">', fragment)
        assert '<p hx-swap-oob="innerHTML:#status">' in fragment  # the live region itself stays

    def test_shows_the_dialogue_and_both_messages_on_the_sides_drawn(self, client, study, rater):
        lease = show_pair(client, study)
        Lease.objects.update(first_side=Side.B)

        page = client.get(url(study, "judge")).content.decode()

        first, second = lease.comparison.first.text, lease.comparison.second.text
        assert page.index(second) < page.index(first)
        assert lease.comparison.context.turns[-1]["text"] in page

    def test_reload_shows_the_same_pair(self, client, study, rater):
        tokens = {show_pair(client, study).token for _ in range(3)}

        assert len(tokens) == 1

    def test_says_so_when_the_seeker_is_simulated(self, client, study, rater):
        said = "Test data: this person’s messages were written by a program."
        lease = show_pair(client, study)
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
        pages = [client.get(url(study, name)) for name in ("entry", "how", "judge", "help")]
        shown = " ".join(page.content.decode() for page in pages).casefold()

        words = [dimension["name"] for dimension in study.content["rubric"]["dimensions"]]
        assert not [word for word in (*words, "rubric", "dimension") if word.casefold() in shown]

    def test_rubric_study_has_a_row_for_each_dimension_with_its_meaning(self, client):
        study = open_study("rubric")
        enrol(client, study)

        page = client.get(url(study, "judge")).content.decode()

        for dimension in study.content["rubric"]["dimensions"]:
            assert page.count(dimension["name"]) == 1
            assert html.escape(dimension["in_short"]) in page
        assert url(study, "rubric") in page

    def test_guesses_the_time_left_from_the_raters_own_pace(self, client, study, rater):
        assert "about 40 minutes left" in client.get(url(study, "judge")).content.decode()


WITH_NULL_BYTE = {"verdict": "2", "rationale": "it names\0 the feeling"}
AS_LONG_AS_MAY_BE = {"verdict": "2", "rationale": "word\r\n" * 799 + "words"}
"""4,000 characters: a browser counts an end of line as one, and sends two."""

ONE_MORE = {"verdict": "2", "rationale": "word\r\n" * 799 + "words!"}

SENT = [
    ("five points", "preference", {"verdict": "2", "rationale": "it names the feeling"}, 303),
    ("about the same", "preference", {"verdict": "0", "rationale": "it names the feeling"}, 303),
    ("off the scale", "preference", {"verdict": "3", "rationale": "it names the feeling"}, 422),
    ("not a number", "preference", {"verdict": "much", "rationale": "it names the feeling"}, 422),
    ("no choice", "preference", {"rationale": "it names the feeling"}, 422),
    ("no reason", "preference", {"verdict": "2"}, 422),
    ("reason too short", "preference", {"verdict": "2", "rationale": "   short   "}, 422),
    ("reason of a megabyte", "preference", {"verdict": "2", "rationale": "a" * 1_000_000}, 422),
    ("a null byte among words", "preference", WITH_NULL_BYTE, 303),
    ("signs that nobody sees", "preference", {"verdict": "2", "rationale": "\u200b" * 20}, 422),
    ("blanks of other scripts", "preference", {"verdict": "2", "rationale": "\u3164" * 20}, 422),
    ("lines as long as the browser counts", "preference", AS_LONG_AS_MAY_BE, 303),
    ("one character more", "preference", ONE_MORE, 422),
    ("nothing", "preference", {}, 422),
    ("forced choice", "rubric", {"winner": "A", "strength": "5"}, 303),
    ("forced choice with a mark", "rubric", {"winner": "B", "strength": "1", "mark_T": "1"}, 303),
    ("strength off the scale", "rubric", {"winner": "B", "strength": "0"}, 422),
    ("tie", "rubric", {"winner": "same", "strength": "1"}, 422),
    ("mark off the scale", "rubric", {"winner": "A", "strength": "1", "mark_T": "2"}, 422),
    ("no winner", "rubric", {"strength": "1"}, 422),
    ("nothing for the rubric", "rubric", {}, 422),
]
"""Answers by name and kind, and the status that each is answered with."""


class TestSubmit:
    @BOTH
    def test_answers_with(self, client, kind, subtests):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)

        for name, of_kind, fields, status in SENT:
            if of_kind == kind:
                with subtests.test(name), rolled_back():
                    assert submit(client, study, lease, fields).status_code == status
                    assert Judgment.objects.count() == (status == 303)

    @BOTH
    @pytest.mark.parametrize(("side", "sign"), [(Side.A, 1), (Side.B, -1)])
    def test_stores_the_answer_in_the_canonical_frame(self, client, kind, side, sign):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)
        Lease.objects.update(first_side=side)

        submit(client, study, lease, ANSWERS[kind])

        assert Judgment.objects.get().verdict == sign * (2 if kind == "preference" else -4)
        marks = dict(DimensionMark.objects.values_list("dimension", "advantage"))
        assert marks == ({} if kind == "preference" else {"E": -sign, "R": 0})

    @BOTH
    def test_plain_post_is_sent_to_the_next_pair(self, client, kind):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)

        answer = submit(client, study, lease, ANSWERS[kind])

        assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))

    @BOTH
    def test_htmx_post_is_answered_with_the_next_pair(self, client, kind):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)

        answer = submit(client, study, lease, ANSWERS[kind], headers=HTMX)

        following = Lease.objects.get(closed_at=None)
        assert answer.status_code == 200
        assert str(following.token) in answer.content.decode()
        assert str(lease.token) not in answer.content.decode()
        assert "Pair 2 of 40" in answer.content.decode()
        assert "Your answer is saved." in answer.content.decode()

    @BOTH
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_what_was_typed_comes_back_when_something_is_missing(self, client, kind, headers):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)
        typed = ANSWERS[kind] | {"rationale": "<b>tiny</b>"}
        typed.pop("verdict", None)
        typed.pop("winner", None)

        page = submit(client, study, lease, typed, headers=headers)

        form = next(form for form in read_forms(page) if form.id == "answer")
        assert {name: form.fields.get(name) for name in typed} == typed
        assert "&lt;b&gt;tiny&lt;/b&gt;" in page.content.decode()

    @BOTH
    def test_errors_lead_to_controls_that_are_on_the_page(self, client, kind):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)

        page = submit(client, study, lease, {}).content.decode()

        summary = page[page.index('id="errors"') : page.index("</ul>", page.index('id="errors"'))]
        targets = re.findall(r'href="#([^"]+)"', summary)
        assert len(targets) == 2
        for target in targets:
            assert re.search(rf'<(input|textarea)[^>]* id="{target}"', page)
        for described in re.findall(r'aria-describedby="([^"]+)"', page):
            assert all(f'id="{one}"' in page for one in described.split())

    def test_repeating_a_post_stores_one_judgment(self, client, study, rater):
        lease = show_pair(client, study)

        for headers in ({}, HTMX, {}):
            submit(client, study, lease, ANSWERS["preference"], headers=headers)

        assert Judgment.objects.count() == 1

    def test_answer_to_a_lease_that_ran_out_is_kept(self, client, study, rater):
        lease = show_pair(client, study)
        services.release_expired_leases(now=lease.expires_at + dt.timedelta(seconds=1))

        answer = submit(client, study, lease, ANSWERS["preference"])

        assert answer.status_code == 303
        assert Judgment.objects.get().lease == lease

    def test_hidden_time_never_costs_an_answer(self, client, study, rater, subtests):
        lease = show_pair(client, study)
        Lease.objects.update(issued_at=lease.issued_at - dt.timedelta(seconds=60))

        for reported, kept in HIDDEN_MS.items():
            with subtests.test(reported), rolled_back():
                submit(client, study, lease, ANSWERS["preference"] | {"hidden_ms": reported})
                assert Judgment.objects.get().hidden_ms == kept

    @pytest.mark.parametrize(
        ("reason", "is_taken"),
        [
            ("ok ok ok ok ok", False),
            ("aaaaaaaaaaaa", False),
            ("no no no, no", False),
            (". . . . . . .", False),
            ("A is warmer.", True),
            ("more empathy", True),
            ("它更关心她的感受并且提出了问题", True),
        ],
    )
    def test_takes_a_reason_that_says_something(self, client, study, rater, reason, is_taken):
        lease = show_pair(client, study)

        submit(client, study, lease, ANSWERS["preference"] | {"rationale": reason})

        assert Judgment.objects.exists() is is_taken

    @pytest.mark.parametrize("kind", ["preference", "rubric", "likert"])
    @pytest.mark.parametrize("shortest", [0, 10])
    def test_a_study_says_whether_a_sentence_is_required(self, client, kind, shortest):
        study = open_study(kind, min_rationale_length=shortest)
        enrol(client, study)

        submit(client, study, show_pair(client, study), ANSWERS[kind] | {"rationale": ""})

        assert Judgment.objects.exists() is (shortest == 0)

    def test_says_whether_folded_turns_were_opened(self, client, study, rater, subtests):
        lease = show_pair(client, study)

        for reported, kept in OPENED.items():
            with subtests.test(reported), rolled_back():
                submit(client, study, lease, ANSWERS["preference"] | {"opened_earlier": reported})
                assert Judgment.objects.get().opened_earlier is kept

    @pytest.mark.parametrize("name", ["submit", "skip"])
    @pytest.mark.parametrize("whose", ["nobody's", "somebody else's"])
    def test_token_that_is_not_the_raters_is_not_found(self, client, study, rater, name, whose):
        other = Client()
        enrol(other, study)
        token = uuid.uuid4() if whose == "nobody's" else show_pair(other, study).token

        for fields in (ANSWERS["preference"] | {"reason": "unclear"}, {}):
            page = client.post(url(study, name, token), fields)
            assert page.status_code == 404
            assert "belongs to someone else" in page.content.decode()
        assert not Judgment.objects.exists()

    def test_post_without_the_forgery_token_is_refused_kindly(self, study):
        client = Client(enforce_csrf_checks=True)

        page = client.post(url(study, "submit", uuid.uuid4()), ANSWERS["preference"])

        assert page.status_code == 403
        assert "Open the study again" in page.content.decode()

    def test_token_of_an_answer_serves_the_next_one_and_its_cookie_is_not_sent_anew(self, study):
        client = Client(enforce_csrf_checks=True)
        entered = Client()
        enrol(entered, study)
        client.cookies = entered.cookies
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
        shown = client.get(url(study, "judge")).content.decode()
        assert tokens[0] not in shown

    def test_other_methods_are_not_allowed(self, client, study):
        token = uuid.uuid4()
        asked = {name: client.post(url(study, name)) for name in ("entry", "judge", "last", "done")}
        asked |= {name: client.put(url(study, name, token)) for name in ("submit", "skip")}
        asked |= {"how": client.put(url(study, "how"))}
        asked |= {"consent": client.delete(url(study, "consent"))}

        assert {name: answer.status_code for name, answer in asked.items()} == dict.fromkeys(
            asked, 405
        )


class TestForeseen:
    """What would follow an answer, for a page far from the site."""

    def stage(self, answer, lease):
        """Return the pair of an answer, without what only a pair that was assigned has."""
        page = answer.content.decode().replace(str(lease.token), "TOKEN")
        page = re.sub(r'<p class="toast">.*?</p>|name="csrfmiddlewaretoken" value="\w+"', "", page)
        return page[page.index("<section") :]

    @pytest.mark.parametrize("kind", ANSWERS)
    def test_is_the_pair_that_the_answer_brings_without_its_token(self, client, kind):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)

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
        enrol(client, study)
        lease = show_pair(client, study)

        assert client.get(url(study, "foreseen", lease.token)).status_code == 204

    def test_is_nothing_for_whoever_has_another_pair(self, client, study, rater):
        lease = show_pair(client, study)
        enrol(other := Client(), study)

        assert other.get(url(study, "foreseen", lease.token)).status_code == 204
        assert other.get(url(study, "foreseen", uuid.uuid4())).status_code == 204


class TestLast:
    @BOTH
    def test_shows_the_answer_that_was_given(self, client, kind):
        study = open_study(kind)
        enrol(client, study)
        lease = show_pair(client, study)
        submit(client, study, lease, ANSWERS[kind])

        page = client.get(url(study, "last"))

        form = next(form for form in read_forms(page) if form.id == "answer")
        assert form.action == url(study, "submit", lease.token)
        assert ANSWERS[kind].items() <= form.fields.items()

    def test_changed_answer_is_a_revision_and_the_loop_goes_on(self, client, study, rater):
        lease = show_pair(client, study)
        submit(client, study, lease, ANSWERS["preference"])
        waiting = show_pair(client, study)

        submit(client, study, lease, ANSWERS["preference"] | {"verdict": "-1"})

        old, new = Judgment.objects.order_by("pk")
        assert new.revises == old
        assert show_pair(client, study) == waiting

    def test_missing_reason_keeps_the_rater_on_the_old_pair(self, client, study, rater):
        lease = show_pair(client, study)
        submit(client, study, lease, ANSWERS["preference"])

        page = submit(client, study, lease, {"verdict": "1"})

        assert page.status_code == 422
        assert ">Save</button>" in page.content.decode()

    def test_is_offered_only_after_a_first_answer(self, client, study, rater):
        lease = show_pair(client, study)
        assert url(study, "last") not in client.get(url(study, "judge")).content.decode()
        assert client.get(url(study, "last"))["Location"] == url(study, "judge")

        submit(client, study, lease, ANSWERS["preference"])

        assert url(study, "last") in client.get(url(study, "judge")).content.decode()


class TestSkip:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_every_reason_on_offer_leads_to_another_pair(self, client, headers):
        study = open_study(n_pairs=6)
        enrol(client, study)
        lease = show_pair(client, study)
        menu = next(
            form for form in read_forms(client.get(url(study, "judge"))) if "skip" in form.action
        )

        for name, reason in menu.buttons:
            if reason == "upsetting":
                continue
            answer = client.post(url(study, "skip", lease.token), {name: reason}, headers=headers)
            assert answer.status_code == (200 if headers else 303)
            lease.refresh_from_db()
            assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, reason)
            lease = show_pair(client, study)

        assert not Judgment.objects.exists()

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_what_upsets_is_never_shown_again_and_offers_help(self, client, study, rater, headers):
        lease = show_pair(client, study)
        context = lease.comparison.context
        make_comparison(study=study, first=make_completion(context=context))

        reason = {"reason": "upsetting"}
        page = client.post(url(study, "skip", lease.token), reason, headers=headers)

        text = page.content.decode()
        assert page.status_code == 200
        assert "You won’t see this conversation again" in text
        assert study.content["help_lines"][0]["name"] in text
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "upsetting")
        assert Report.objects.get().kind == ReportKind.UPSET
        for _ in range(study.comparisons.count()):
            client.get(url(study, "judge"))
            for shown in Lease.objects.filter(closed_at=None):
                assert shown.comparison.context != context
                submit(client, study, shown, ANSWERS["preference"])

    @pytest.mark.parametrize("fields", [{}, {"reason": "because"}], ids=["none", "unknown"])
    def test_without_a_known_reason_the_pair_stays(self, client, study, rater, fields):
        lease = show_pair(client, study)

        page = client.post(url(study, "skip", lease.token), fields)

        assert page.status_code == 422
        assert show_pair(client, study) == lease
