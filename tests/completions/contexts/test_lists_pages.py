"""The console's lists of datasets, contexts and candidates, and the funnel that leads to them."""

import re

import pytest
from django.urls import reverse

from completions.choices import Review, RewriteState
from completions.contexts.queries import dataset_rows
from completions.models import Context
from tests.helpers.datasets import make_screened_dataset, make_turns, screen
from tests.helpers.factories import (
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_rewrite,
    make_screening_call,
)
from tests.helpers.factories_of_calls import DONE
from tests.helpers.pages import addresses, text

pytestmark = pytest.mark.django_db

FUNNEL = "/console/contexts/talks/"
LIST = "/console/contexts/talks/list/"
CANDIDATES = "/console/contexts/talks/candidates/"


@pytest.fixture
def dataset():
    return make_screened_dataset("talks")


def keys(answer):
    return [row.key for row in answer.context["page"]]


class TestDatasets:
    def test_are_a_click_away_in_the_console(self, admin_client):
        assert "/console/contexts/" in addresses(admin_client.get("/console/"))

    def test_says_how_to_begin(self, admin_client):
        assert "There is none yet" in text(admin_client.get("/console/contexts/"))

    def test_counts_each_dataset_on_its_own(self, admin_client, dataset):
        dataset.contexts.filter(turn_index=0).update(review=Review.DROPPED)
        make_context(dataset=make_dataset(name="Another"))

        other, ours = admin_client.get("/console/contexts/").context["datasets"]

        assert other.name == "Another"
        assert (ours.n_dialogues, ours.n_contexts, ours.n_reviewed, ours.n_dropped) == (3, 2, 1, 1)
        assert (other.n_dialogues, other.n_contexts, other.n_reviewed) == (1, 1, 0)

    def test_count_nothing_anew_for_each_context(self):
        assert "JOIN" not in str(dataset_rows().query)


class TestContextList:
    @pytest.fixture
    def contexts(self):
        dataset = make_dataset(slug="talks")
        labels = [("fear", "exam"), ("fear", "job"), ("anger", "job"), ("", "")]
        reviews = [Review.PENDING, Review.KEPT, Review.DROPPED, Review.PENDING]
        return [
            make_context(
                key=f"key-{n}",
                review=review,
                dialogue=make_dialogue(dataset=dataset, emotion_type=emotion, problem_type=problem),
            )
            for n, ((emotion, problem), review) in enumerate(zip(labels, reviews, strict=True))
        ]

    def test_shows_what_is_asked_for(self, admin_client, contexts, subtests):
        for query, found in {
            "": "0123",
            "review=PENDING": "03",
            "review=DROPPED": "2",
            "review=IN_USE": "013",
            "emotion=fear&problem=job": "1",
            "problem=job": "12",
            "emotion=-": "3",
            "q=+KEY-2+": "2",
            "q=%25": "",
            "stratum=REGULAR&review=IN_USE&emotion=fear": "01",
            "stratum=ADVERSARIAL": "",
        }.items():
            with subtests.test(query):
                assert keys(admin_client.get(f"{LIST}?{query}")) == [f"key-{n}" for n in found]

    def test_lists_regular_contexts_first(self, admin_client, contexts, make_hostile):
        make_hostile(contexts[0], key="a-hostile")

        answer = admin_client.get(LIST)

        assert keys(answer)[-1] == "a-hostile"
        assert "A sudden jump halfway simulated" in text(answer)

    def test_keeps_the_filter_in_its_fields_and_links(self, admin_client, contexts):
        answer = admin_client.get(f"{LIST}?emotion=fear&review=PENDING")

        assert '<option value="fear" selected>' in answer.content.decode()
        assert "/console/contexts/talks/key-0/?review=PENDING&emotion=fear" in addresses(answer)

    def test_goes_on_a_page_at_a_time(self, admin_client, contexts):
        dialogue = contexts[0].dialogue
        for n in range(30):
            make_context(key=f"more-{n:02}", dialogue=dialogue, turn_index=1000 + n)

        first, second = (admin_client.get(f"{LIST}?emotion=fear&page={n}") for n in (1, 2))

        assert (len(keys(first)), len(keys(second))) == (25, 7)
        assert not set(keys(first)) & set(keys(second))
        assert "?emotion=fear&amp;page=2" in first.content.decode()
        assert "Page 2 of 2" in text(second)

    def test_says_how_far_the_review_is_and_leads_to_the_first_that_waits(
        self, admin_client, contexts
    ):
        Context.objects.filter(key="key-0").update(review=Review.KEPT)

        everything = admin_client.get(LIST)

        assert "3 of 4 reviewed" in text(everything)
        assert "Continue reviewing" in text(everything)
        assert "/console/contexts/talks/key-3/" in addresses(everything)
        assert "2 of 2 reviewed" in text(admin_client.get(f"{LIST}?emotion=fear"))

    def test_says_when_nothing_matches_and_when_nothing_is_there(self, admin_client, contexts):
        assert "No context matches" in text(admin_client.get(f"{LIST}?emotion=joy"))
        make_dataset(slug="empty")
        assert "There are none yet" in text(admin_client.get("/console/contexts/empty/list/"))

    def test_shows_notes_and_turns_as_raters_see_them(self, admin_client, contexts):
        turns = [{"role": "seeker", "text": "I “said” so — sadly"}]
        Context.objects.filter(key="key-0").update(review_note="Read twice.", turns=turns)

        page = text(admin_client.get(LIST))

        assert "Read twice." in page
        assert "I &quot;said&quot; so - sadly" in page


class TestCandidateList:
    def test_shows_what_is_asked_for(self, admin_client, dataset, subtests):
        first, second, *_ = dataset.dialogues.first().candidates.order_by("turn_index")
        make_screening_call(candidate=first, opinion={"qualifies": False}, **DONE)
        make_screening_call(candidate=second)

        for query, n in {
            "": 6,
            "outcome=suitable": 2,
            "outcome=no-signal": 1,
            "outcome=removed": 3,
            "rule=violence": 3,
            "rule=violence&how=first": 2,
            "rule=violence&how=alone": 1,
            "rule=too-short": 1,
            "rule=too-short&how=first": 0,
            "rule=violence&emotion=fear": 1,
            "emotion=fear&problem=exam": 1,
            "emotion=-": 0,
            "opinion=agreed": 0,
            "opinion=disagreed": 1,
            "opinion=waiting": 1,
            "opinion=failed": 0,
        }.items():
            with subtests.test(query):
                page = admin_client.get(f"{CANDIDATES}?{query}").context["page"]
                assert page.paginator.count == n

    def test_shows_reasons_in_the_order_of_the_source(self, admin_client, dataset):
        answer = admin_client.get(CANDIDATES)

        rows = answer.context["page"]
        places = [(row.dialogue.position, row.turn_index + 1) for row in rows]
        assert places == sorted(places)
        assert "removed self-harm, violence" in text(answer)


class TestSeveralAtOnce:
    def decide(self, client, keys, decision, query=""):
        address = reverse("contexts:review_many", args=["talks"]) + query
        return client.post(address, {"keys": keys, "decision": decision}, follow=True)

    @pytest.mark.parametrize(
        ("decision", "said"),
        [("KEPT", "Kept"), ("DROPPED", "Dropped"), ("PENDING", "Not reviewed")],
    )
    def test_are_those_that_are_ticked_while_notes_and_filter_stay(
        self, admin_client, dataset, decision, said
    ):
        one, other = dataset.contexts.all()
        Context.objects.update(review_note="Read twice.", review=Review.KEPT)

        answer = self.decide(admin_client, [one.key], decision, "?review=PENDING")

        reviews = dict(dataset.contexts.values_list("key", "review"))
        assert reviews == {one.key: decision, other.key: "KEPT"}
        assert set(dataset.contexts.values_list("review_note", flat=True)) == {"Read twice."}
        assert answer.redirect_chain == [(f"{LIST}?review=PENDING", 302)]
        assert said in text(answer)

    @pytest.mark.parametrize(
        ("keys", "decision"),
        [([], "KEPT"), (["x"], "OTHER"), (["x"], "")],
        ids=["none", "odd", "no"],
    )
    def test_nothing_is_decided_where_nothing_is_meant(self, admin_client, dataset, keys, decision):
        answer = self.decide(admin_client, keys, decision)

        assert "Nothing was decided" in text(answer)
        assert set(dataset.contexts.values_list("review", flat=True)) == {Review.PENDING}

    def test_one_that_is_named_twice_is_counted_once(self, admin_client, dataset):
        key = dataset.contexts.first().key

        answer = self.decide(admin_client, [key, "\0", key], "KEPT")

        assert "1 context: Kept" in text(answer)

    def test_a_context_of_another_dataset_is_left_alone(self, admin_client, dataset):
        other = make_context()

        self.decide(admin_client, [other.key, "a\0b", "a" * 30], "DROPPED")

        assert Context.objects.get(pk=other.pk).review == Review.PENDING


class TestFunnel:
    def test_shows_every_count_and_cell(self, admin_client, dataset):
        page = text(admin_client.get(FUNNEL))

        for said in (
            "60 utterances",
            "in 12 turns",
            "from 1 dialogue",
            "All candidates 6",
            "2 wait",
            "violence Violence, threats or abuse. 2 3 1",
            "fear 2 66.7% 4 66.7% 2 100.0% 2 100.0%",
            "fear exam 1 33.3% 1 16.7% 0 0.0% 0 0.0%",
        ):
            assert said in page
        assert re.search(r"no signal .* 1 Suitable 2 Chosen 2", page)

    def test_its_counts_open_exactly_their_rows(self, admin_client, dataset):
        screen(make_dialogue(dataset=dataset, turns=make_turns(1)), "suitable")  # without a label

        page = admin_client.get(FUNNEL)

        linked = re.findall(
            r'href="(/console/contexts/talks/(?:list|candidates)/[^"]*)">([\d,]+)</a>',
            page.content.decode(),
        )
        assert (f"{CANDIDATES}?emotion=-", "1") in linked
        assert len(linked) > 20
        for address, count in linked:
            rows = admin_client.get(address.replace("&amp;", "&")).context["page"]
            assert rows.paginator.count == int(count), address

    def test_says_why_rewrites_were_given_up_and_what_is_simulated(
        self, admin_client, dataset, make_hostile
    ):
        source = dataset.contexts.first()
        context = make_hostile(source)
        accepted = {"state": RewriteState.ACCEPTED, "context": context}
        dropped = {"state": RewriteState.DROPPED, "reason": "The last turn was <calm>."}
        make_rewrite(source_context=source, ended_at=NOW, **accepted)
        make_rewrite(source_context=source, ended_at=NOW, profile="MID_RAMP", **dropped)

        answer = admin_client.get(FUNNEL)

        assert "The last turn was &lt;calm&gt;." in answer.content.decode()
        assert "Simulated: a program wrote these seekers" in text(answer)
        assert f"/console/contexts/talks/{context.key}/" in addresses(answer)

    def test_says_what_comes_next_before_anything_is_screened(self, admin_client):
        make_dataset(slug="talks")

        page = text(admin_client.get(FUNNEL))

        assert "No dialogues yet. Import dialogues" in page
        assert "What screening removed" not in page
