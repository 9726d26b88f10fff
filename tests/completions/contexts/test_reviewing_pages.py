"""One context to be kept or dropped, one candidate to be read: what is shown and decided."""

import re

import pytest

from access.models import LogEntry
from completions.choices import EscalationProfile, Review, SystemKind
from completions.models import Context, Dialogue
from tests.helpers.datasets import FINDINGS, TURNS, address, make_reviewable, screen
from tests.helpers.factories import (
    make_assistant,
    make_candidate,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_screening_call,
    make_system,
)
from tests.helpers.factories_of_calls import DONE
from tests.helpers.pages import addresses, text

pytestmark = pytest.mark.django_db
PIECES = [["same", "So"], ["removed", "it was"], ["added", "“be” it"]]


def marks(answer):
    """Return what is marked, with the numbers of the rules."""
    return re.findall(
        r"<mark[^>]*>(.*?)<sup><span.*?</span>(.*?)</sup></mark>", answer.content.decode()
    )


@pytest.fixture
def context():
    return make_reviewable()


class TestTheContext:
    def test_is_shown_as_raters_see_it_and_the_rest_apart(self, admin_client, context):
        answer = admin_client.get(address("key-0"))

        page = text(answer)
        in_order = (
            "Hello - how are you?",
            "That sounds hard",
            "I feel -",
            "What raters do not see",
            "Would it help to",
        )
        assert [page.index(said) for said in in_order] == sorted(map(page.index, in_order))
        assert page.index("What raters do not see") < page.index("Shouting")
        for said in ("fear, job", "distress, help", "screening-1 abc", "cells-2 , seed 7"):
            assert said in page
        assert context.dialogue.content_hash[:12] in page
        assert "<script>alert" not in answer.content.decode()
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.content.decode()

    def test_marks_what_the_rules_found_and_says_what_each_number_stands_for(
        self, admin_client, context
    ):
        answer = admin_client.get(address("key-0"))

        page = text(answer)
        assert marks(answer) == [
            ("&quot;shouted&quot; at me", "3"),
            ("so sad", "1"),
            ("what should I do", "2"),
            ("write to her", "4"),
            ("Shouting", "3"),
        ]
        assert re.search(r"distress signal [^.]*\. in turn 4 ", page)
        assert re.search(r"violence removes [^.]*\. in turn 2, in the situation ", page)
        assert re.search(r"clinical removes [^.]*\. in the reply", page)
        assert "the whole turn: rule 5" in page

    def test_shows_a_stored_reply_before_that_of_the_dialogue(self, admin_client, context):
        original = make_system(kind=SystemKind.ORIGINAL)
        make_completion(context=context, system=original, text="Another answer.")

        page = text(admin_client.get(address("key-0")))

        assert "Another answer." in page
        assert "Would it help to" not in page

    def test_takes_the_findings_of_its_couplet_if_it_brought_none(self, admin_client):
        context = make_reviewable(provenance={})
        make_candidate(dialogue=context.dialogue, turn_index=3, findings=FINDINGS[:1])

        assert marks(admin_client.get(address("key-0"))) == [("so sad", "1")]

    def test_stands_without_findings_reply_or_situation(self, admin_client):
        dialogue = make_dialogue(dataset=make_dataset(slug="talks"), turns=TURNS[:4])
        make_context(dialogue=dialogue, key="bare", turn_index=3, turns=TURNS[:4])

        answer = admin_client.get(address("bare"))

        assert answer.status_code == 200
        assert marks(answer) == []

    def test_shows_opinions_beside_what_the_rules_found(self, admin_client, context):
        candidate = make_candidate(
            dialogue=context.dialogue, turn_index=3, is_suitable=False, findings=FINDINGS
        )
        opinion = {
            "signals": [{"name": "conflict", "quote": "“shouted” <3"}],
            "disqualifiers": [],
            "reason": "It carries <a> quarrel.",
            "qualifies": True,
        }
        simulated = make_assistant(name="Simulated ash", is_simulated=True)
        make_screening_call(candidate=candidate, assistant=simulated, opinion=opinion, **DONE)
        make_screening_call(candidate=candidate, assistant=make_assistant(name="Birch"))

        answer = admin_client.get(address("key-0"))

        page = text(answer)
        assert "suits no Waiting yes It carries &lt;a&gt; quarrel." in page
        assert "Rules Birch Simulated ash simulated" in page
        assert "conflict signal \u2013 \u2013 &quot;shouted&quot; &lt;3" in page
        assert "distress signal found \u2013 \u2013" in page

    def test_offers_its_keys_and_works_without_them(self, admin_client, context):
        page = admin_client.get(address("key-0")).content.decode()

        for key in ("k", "d"):
            assert re.search(rf'<button [^>]*name="decision"[^>]*data-key="{key}"', page)
        assert '<script defer src="/static/js/reviewing' in page
        assert 'id="keys"' in page
        assert "style=" not in page


class TestARewrite:
    @pytest.fixture
    def rewrite(self, context, make_hostile):
        turns = [dict(turn) for turn in context.turns]
        turns[3]["text"] = "You are useless; what should I do?"
        return make_hostile(
            context,
            key="hostile",
            turn_index=3,
            turns=turns,
            escalation_profile=EscalationProfile.LINEAR_RAMP,
            provenance={
                "target": [2, 10],
                "measured": [3, 9],
                "rewriter": {"model_id": "openai/pen", "is_simulated": True},
                "rounds": 2,
            },
        )

    def test_shows_its_profile_source_and_curve_and_that_it_is_simulated(
        self, admin_client, rewrite
    ):
        answer = admin_client.get(address("hostile"))

        page = text(answer)
        assert "A steady climb, from key-0" in page
        assert "Wanted Measured 1 2 3 2 10 9" in page
        assert address("key-0") in addresses(answer)
        assert 'points="0.0,96.0 320.0,0.0"' in answer.content.decode()
        assert "adversarial simulated" in page
        assert "Test data: this person’s messages were written by a program" in page

    @pytest.mark.parametrize(
        ("stored", "removed", "added"),
        [
            ({}, "I feel - so sad;", "You are useless;"),
            ({"diff": [{"turn": 1, "pieces": PIECES}]}, "it was", "&quot;be&quot; it"),
        ],
        ids=["found anew", "as its provenance has it"],
    )
    def test_shows_what_changed(self, admin_client, rewrite, stored, removed, added):
        rewrite.provenance |= stored
        rewrite.save()

        page = admin_client.get(address("hostile")).content.decode()

        assert re.findall("<del>(.*?)</del>", page) == [removed]
        assert re.findall("<ins>(.*?)</ins>", page) == [added]


class TestTheCandidate:
    def test_is_shown_like_a_context_without_anything_to_decide(self, admin_client):
        reasons = {"reasons": ["violence", "clinical"], "is_suitable": False}
        candidate = make_candidate(
            dialogue=make_reviewable().dialogue, turn_index=3, findings=FINDINGS, **reasons
        )

        answer = admin_client.get(address(f"candidates/{candidate.pk}"))

        page = text(answer)
        assert "removed violence, clinical" in page
        assert ("write to her", "4") in marks(answer)
        assert 'name="decision"' not in answer.content.decode()

    def test_leads_to_its_neighbours_in_the_same_filter(self, admin_client):
        dialogue = make_dialogue(dataset=make_dataset(slug="talks"), turns=TURNS * 3)
        rows = screen(dialogue, ["violence"], ["hate"], ["violence"], ["violence"])
        pages = [address(f"candidates/{row.pk}", "?rule=violence&how=alone") for row in rows]

        linked = addresses(admin_client.get(pages[2]))

        assert {pages[0], pages[3]} <= linked


def decide(client, key, decision, *, note="", query="", **options):
    return client.post(
        f"/console/contexts/talks/{key}/review/{query}",
        {"decision": decision, "note": note},
        **options,
    )


class TestDeciding:
    @pytest.fixture
    def dataset(self):
        return make_dataset(slug="talks")

    @pytest.fixture
    def contexts(self, dataset):
        return [make_reviewable(dataset=dataset, key=f"key-{n}") for n in range(4)]

    def test_stores_it_with_the_note_and_who_decided(self, admin_client, admin_user, contexts):
        decide(admin_client, "key-0", "DROPPED", note="  names a town \r\n")

        context = Context.objects.get(key="key-0")
        assert (context.review, context.review_note) == (Review.DROPPED, "names a town")
        assert LogEntry.objects.get().by == admin_user

    @pytest.mark.parametrize(
        ("key", "query", "dropped", "onwards"),
        [
            pytest.param("key-0", "", (1,), "key-2", id="the next that waits"),
            pytest.param("key-3", "", (), "key-0", id="the first again after the last"),
            pytest.param("key-1", "?review=PENDING", (), "key-2", id="in the filter"),
            pytest.param("key-0", "?review=PENDING&emotion=joy", (), "key-3", id="in both filters"),
            pytest.param("key-0", "?review=DROPPED", (0, 2, 3), "key-2", id="the next of its kind"),
        ],
    )
    def test_goes_on_in_the_filter(self, admin_client, contexts, key, query, dropped, onwards):
        Dialogue.objects.filter(contexts__key__in=["key-0", "key-3"]).update(emotion_type="joy")
        Context.objects.filter(key__in=[f"key-{n}" for n in dropped]).update(review=Review.DROPPED)

        answer = decide(admin_client, key, "KEPT", query=query)

        assert (answer.status_code, answer["Location"]) == (302, address(onwards, query))

    @pytest.mark.parametrize(
        ("query", "others", "is_all_reviewed"),
        [("", Review.KEPT, True), ("?review=DROPPED", Review.PENDING, False)],
        ids=["nothing waits", "no other is dropped"],
    )
    def test_ends_at_the_list_and_says_what_it_did_with_the_way_back(
        self, admin_client, contexts, query, others, is_all_reviewed
    ):
        Context.objects.exclude(key="key-0").update(review=others)
        Context.objects.filter(key="key-0").update(review=Review.DROPPED)

        answer = decide(admin_client, "key-0", "KEPT", query=query, follow=True)

        assert answer.redirect_chain[-1][0].startswith(f"/console/contexts/talks/list/{query}")
        assert ("Everything here is reviewed." in text(answer)) is is_all_reviewed
        assert "Kept: key-0" in text(answer)
        assert address("key-0", query) in addresses(answer)

    @pytest.mark.parametrize(
        ("decision", "review"),
        [("", "DROPPED"), ("PENDING", "PENDING")],
        ids=["a note alone", "the decision taken back"],
    )
    def test_stays_where_there_is_something_else_to_do(
        self, admin_client, contexts, decision, review
    ):
        Context.objects.filter(key="key-0").update(review=Review.DROPPED)
        assert "Take the decision back" in text(admin_client.get(address("key-0")))

        answer = decide(admin_client, "key-0", decision, note="look again")

        assert answer["Location"] == address("key-0")
        assert Context.objects.get(key="key-0").review == review
        assert "look again" in text(admin_client.get(address("key-0")))

    def test_shows_every_decision_so_far(self, admin_client, admin_user, contexts):
        decide(admin_client, "key-0", "KEPT", note="fine")
        decide(admin_client, "key-0", "DROPPED", note="<i>names</i> a town")

        page = text(admin_client.get(address("key-0")))

        assert re.search(r"Dropped: used for nothing new &lt;i&gt;names.* Kept fine", page)
        assert page.count(f"{admin_user.get_username()}:") == 2

    @pytest.mark.parametrize(
        ("decision", "note"), [("MAYBE", ""), ("KEPT", "x" * 2001)], ids=["unknown", "too long"]
    )
    def test_refuses_what_it_cannot_store_and_keeps_what_was_typed(
        self, admin_client, contexts, decision, note
    ):
        answer = decide(admin_client, "key-0", decision, note=note)

        assert answer.status_code == 422
        assert Context.objects.get(key="key-0").review == Review.PENDING
        assert note in answer.content.decode()

    def test_leads_to_the_contexts_before_and_after(self, admin_client, contexts):
        linked = addresses(admin_client.get(address("key-1", "?emotion=fear")))

        assert {address("key-0", "?emotion=fear"), address("key-2", "?emotion=fear")} <= linked
