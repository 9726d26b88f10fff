"""The console's queue of messages, and the page of one."""

import re

import pytest

from completions.choices import MessageState, MessageVerdict, Stratum
from completions.models import Message, MessageRevision
from completions.writers import message_queries
from completions.writers.services.review_decisions import complete_message
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_of_people import (
    make_accepted,
    make_message_decision,
    make_revision,
    make_sent,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.pages import text
from tests.helpers.written import WORDS, completion_of, make_read

pytestmark = pytest.mark.django_db

QUEUE = "/console/writing/talks/messages/"
LEAK = {"kind": "leak", "reason": "self-identification", "matched": "As an AI", "start": 0}
CONCERN = {"kind": "second-look", "reason": "personal-data", "matched": "555 0199", "start": 8}


def near(of, contained=0.83, **which):
    return {
        "kind": "near-duplicate",
        "of": of,
        "contained": contained,
        "matched": "come home",
        **which,
    }


def address(message, query=""):
    return f"{QUEUE}{message.pk}/{query}"


def listed(staff, query=""):
    """Return the keys of the messages that the queue lists, in its order."""
    page = staff.get(f"{QUEUE}{query}")
    return [version.message_id for version, _begins, _signals in page.context["page"]]


class TestAccess:
    def test_to_messages_of_trials_is_by_the_page_of_their_writer(self, staff, dataset):
        message = make_read(dataset, state=MessageState.TRIAL)

        posts = [staff.post(address(message, one)) for one in ("author/", "decide/")]

        for answer in (staff.get(address(message)), *posts):
            assert answer.status_code == 404

    @pytest.mark.parametrize("query", ["?state=TRIAL", "?signal=odd", "?stratum=x"])
    def test_to_what_does_not_exist_is_refused(self, staff, dataset, query):
        assert staff.get(f"{QUEUE}{query}").status_code == 404
        assert staff.get(address(make_read(dataset), query)).status_code == 404


class TestTheQueue:
    def test_lists_what_waits_the_oldest_first_or_what_is_in_another_state(self, staff, dataset):
        late = make_read(dataset, written_at=NOW + HOUR)
        early = make_read(dataset)
        returned = make_read(dataset, state=MessageState.RETURNED)
        rejected = make_read(dataset, state=MessageState.REJECTED)
        make_read(dataset, state=MessageState.TRIAL)
        make_sent()

        assert listed(staff) == [early.pk, late.pk]
        assert listed(staff, "?state=RETURNED") == [returned.pk]
        assert listed(staff, "?state=REJECTED") == [rejected.pk]
        assert listed(staff, "?state=ALL") == [early.pk, late.pk, returned.pk, rejected.pk]
        page = text(staff.get(QUEUE))
        assert "Waits for review (2)" in page
        assert "Sent back with a note (1)" in page
        assert "Rejected (1)" in page
        assert "Deleted at its writer" not in page

    @pytest.mark.parametrize(
        ("query", "fields", "n_signals"),
        [
            ("?signal=flagged", {"flags": [LEAK]}, 1),
            ("?signal=copy", {"flags": [near("own", message=0)]}, 1),
            ("?signal=pasted", {"pastes": 2}, 1),
            ("?signal=second-look", {"has_looked_again": True}, 1),
            ("?signal=long", {"text": "word " * 61}, 1),
            ("?signal=short", {"text": "I hear you."}, 1),
            ("?stratum=ADVERSARIAL", {"stratum": Stratum.ADVERSARIAL}, 0),
        ],
    )
    def test_is_filtered_by_stratum_and_by_a_signal_which_stands_in_the_row(
        self, staff, dataset, query, fields, n_signals
    ):
        make_read(dataset, "Seven words are few, and these are eight.")
        found = make_read(dataset, **fields)

        [(version, _begins, signals)] = staff.get(f"{QUEUE}{query}").context["page"]

        assert (version.message_id, len(signals)) == (found.pk, n_signals)

    def test_looks_at_the_newest_version_alone(self, staff, dataset):
        message = make_read(dataset, "The first version was pasted as a whole.", pastes=1)
        make_revision(message=message, text=WORDS)

        assert listed(staff, "?signal=pasted") == []
        assert WORDS in text(staff.get(QUEUE))

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("", "Nothing waits."),
            ("?state=REJECTED", "No message is in this state."),
            ("?signal=long", "No message matches."),
        ],
    )
    def test_says_why_it_is_empty(self, staff, dataset, query, said):
        assert said in text(staff.get(f"{QUEUE}{query}"))

    def test_is_shown_in_pages(self, staff, dataset, monkeypatch):
        monkeypatch.setattr(message_queries, "PER_PAGE", 2)
        keys = [make_read(dataset).pk for _ in range(3)]

        assert (listed(staff), listed(staff, "?page=2")) == (keys[:2], keys[2:])
        assert 'href="?page=2"' in staff.get(QUEUE).content.decode()

    def test_reads_the_texts_of_what_it_shows_alone(self, staff, dataset, monkeypatch):
        monkeypatch.setattr(message_queries, "PER_PAGE", 2)
        message, *_others = (make_read(dataset) for _ in range(6))
        read, made = [], MessageRevision.from_db

        def noted(*given):
            read.append(given)
            return made(*given)

        monkeypatch.setattr(MessageRevision, "from_db", noted)

        staff.get(QUEUE)
        n_listed = len(read)
        staff.get(address(message))

        assert (n_listed, len(read) - n_listed) == (2, 1)


class TestTheSteps:
    def place(self, staff, message, query=""):
        return staff.get(address(message, query)).context["place"]

    def test_lead_through_what_the_filter_means(self, staff, dataset):
        first, _, second, third = (
            make_read(dataset, pastes=pastes, written_at=NOW + n * HOUR)
            for n, pastes in enumerate((1, 0, 1, 1))
        )

        place = self.place(staff, second, "?signal=pasted")

        assert (place["previous"], place["next"]) == (first.pk, third.pk)
        assert place["n_waiting"] == 3

    def test_end_at_the_ends(self, staff, dataset):
        page = staff.get(address(make_read(dataset)))

        place = page.context["place"]
        assert (place["previous"], place["next"], place["next_waiting"]) == (None, None, None)
        assert not re.search('rel="(next|prev)"', page.content.decode())

    def test_skip_what_waits_no_more_and_go_round_to_what_waits_before(self, staff, dataset):
        first = make_read(dataset)
        make_read(dataset, state=MessageState.REJECTED)
        last = make_read(dataset)

        assert self.place(staff, first)["next"] == last.pk
        assert self.place(staff, last)["next_waiting"] == first.pk


class TestThePageOfAMessage:
    def test_shows_the_dialogue_as_raters_see_it_the_text_and_how_it_was_typed(
        self, staff, dataset
    ):
        message = make_read(
            dataset, typing_ms=39_000, pastes=2, pasted_characters=1200, has_looked_again=True
        )

        page = text(staff.get(address(message)))

        for turn in message.lease.context.turns:
            assert turn["text"] in page
        assert WORDS in page
        assert "13 words, 1 sentence" in page
        assert "Time at the keys 39 seconds" in page
        assert "Words per minute 20" in page
        assert f"Pasted 2 times, 1,200 characters; the text has {len(WORDS)}" in page
        assert "Own words declared" in page
        assert "Second look asked for, then sent so" in page

    def test_says_what_is_not_known_of_a_text_written_elsewhere(self, staff, dataset):
        page = text(staff.get(address(make_read(dataset, is_declared=False))))

        assert "Time at the keys not known" in page
        assert "Words per minute" not in page
        assert "Own words not declared here" in page

    def test_quotes_what_rules_found_and_marks_it_in_the_text(self, staff, dataset):
        message = make_read(dataset, "As an AI 555 0199 is all I can say.", flags=[LEAK, CONCERN])

        answer = staff.get(address(message))

        assert '<mark class="against">As an AI</mark> ' in answer.content.decode()
        assert '<mark class="against">555 0199</mark> is all' in answer.content.decode()
        page = text(answer)
        assert "self-identification: As an AI It says what wrote it" in page
        assert "personal-data: 555 0199 this could identify a real person." in page

    @pytest.mark.parametrize(
        ("words", "matched", "marked"),
        [
            (
                "As an AI I hear all of it.",
                ["As an AI", "As an AI I"],
                (("As an AI", True), (" I", True), (" hear all of it.", False)),
            ),
            (WORDS, ["As a robot"], ((WORDS, False),)),
        ],
        ids=["found by two rules", "not in the text"],
    )
    def test_marks_words_of_the_text_once(self, staff, dataset, words, matched, marked):
        flags = [{**LEAK, "matched": one} for one in matched]
        message = make_read(dataset, words, flags=flags)

        assert staff.get(address(message)).context["shown"]["text"] == marked

    @pytest.mark.parametrize(
        ("of", "said"),
        [
            ("own", "83 % like an earlier message of the same writer"),
            ("another", "83 % like another reply to this conversation"),
        ],
    )
    def test_shows_what_a_near_copy_is_like_with_the_differences(self, staff, dataset, of, said):
        other = make_read(dataset, "It must be hard to come home to an empty house.")
        message = make_read(dataset, flags=[near(of, message=other.pk)])

        answer = staff.get(address(message))

        assert said in text(answer)
        html = " ".join(answer.content.decode().split())
        assert "an empty <del>house.</del>" in html
        assert "an empty <ins>flat every night.</ins>" in html

    def test_shows_a_completion_or_the_turn_of_the_source_that_it_is_like(self, staff, dataset):
        other = completion_of(make_accepted("It must be hard to come home at all."))
        flags = [near("another", completion=other.pk), near("original", turn=1)]
        message = make_read(dataset, flags=flags)
        turn = message.lease.context.dialogue.turns[1]["text"]

        copies = staff.get(address(message)).context["shown"]["copies"]

        texts = [" ".join(words for words, _ in copy["other"]) for copy in copies]
        assert sorted(texts) == sorted([other.text, turn])

    @pytest.mark.parametrize("which", [{"message": 0}, {"completion": 0}, {"turn": 99}])
    def test_says_that_a_text_is_not_there_any_more(self, staff, dataset, which):
        message = make_read(dataset, flags=[near("another", **which)])

        page = text(staff.get(address(message)))

        assert "That text is not there any more." in page
        assert page.count(WORDS) == 1

    def test_shows_earlier_versions_with_their_decisions_and_the_text_in_use(self, staff, dataset):
        message = make_read(dataset, "The first version of it, too long.")
        first = message.revisions.get()
        decided = {"revision": first, "decided_by": make_user(username="grace")}
        make_message_decision(verdict=MessageVerdict.RETURNED, note="Shorter, please.", **decided)
        complete_message(message=message, revision=first, now=NOW)
        Message.objects.update(state=MessageState.WAITING)
        make_revision(message=message, text=WORDS)

        page = text(staff.get(address(message)))

        assert "The message, version 2" in page
        assert "Version 1 The first version of it, too long." in page
        assert "grace: Sent back with a note Shorter, please." in page
        in_use = page.partition("Accepted before, and in use until this version is accepted")[2]
        assert in_use.lstrip().startswith("The first version of it, too long.")

    def test_of_a_text_that_was_deleted_says_so(self, staff, dataset):
        message = make_read(dataset, "", state=MessageState.ERASED, erased_at=NOW)

        assert "Deleted at its writer's wish." in text(staff.get(address(message)))
        assert "Deleted at its writer" in text(staff.get(f"{QUEUE}?state=ERASED"))

    @pytest.mark.parametrize("n", [1, 6])
    def test_takes_the_same_number_of_queries_whatever_it_shows(
        self, staff, dataset, django_assert_max_num_queries, n
    ):
        other = make_read(dataset)
        completion = completion_of(make_accepted())
        flags = [near("own", message=other.pk), near("another", completion=completion.pk), LEAK]
        message = make_read(dataset, flags=flags)
        for _ in range(n):
            revision = make_revision(message=message, text=WORDS, flags=flags)
            make_message_decision(revision=revision, decided_by=make_user())
            make_read(dataset)

        with django_assert_max_num_queries(9):
            staff.get(address(message))
