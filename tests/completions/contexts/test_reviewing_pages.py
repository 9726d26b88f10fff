"""One context to be kept or dropped, one candidate to be read: what is shown."""

import re

import pytest

from completions.choices import CallState, EscalationProfile, Stratum, SystemKind
from tests.helpers.datasets import FINDINGS, SITUATION, TURNS, address, make_reviewable
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_candidate,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_screening_call,
    make_system,
)
from tests.helpers.pages import addresses, text

pytestmark = pytest.mark.django_db


def marks(answer):
    """Return what is marked, with the numbers of the rules."""
    found = re.findall(
        r"<mark[^>]*>(.*?)<sup><span.*?</span>(.*?)</sup></mark>", answer.content.decode()
    )
    return [(words, number) for words, number in found]


@pytest.fixture
def context():
    return make_reviewable()


class TestTheContext:
    def test_is_shown_as_raters_see_it(self, admin_client, context):
        page = text(admin_client.get(address("key-0")))

        assert "Hello - how are you?" in page
        assert page.index("Hello - how") < page.index("That sounds hard") < page.index("I feel -")

    def test_marks_what_the_rules_found_with_the_number_of_the_rule(self, admin_client, context):
        assert marks(admin_client.get(address("key-0"))) == [
            ("&quot;shouted&quot; at me", "3"),
            ("so sad", "1"),
            ("what should I do", "2"),
            ("write to her", "4"),
            ("Shouting", "3"),
        ]

    def test_says_what_each_number_stands_for_and_where_it_was_found(self, admin_client, context):
        page = text(admin_client.get(address("key-0")))

        assert re.search(r"distress signal [^.]*\. in turn 4 ", page)
        assert re.search(r"violence removes [^.]*\. in turn 2, in the situation ", page)
        assert re.search(r"clinical removes [^.]*\. in the reply", page)
        assert "the whole turn: rule 5" in page

    def test_shows_markup_in_a_turn_as_text(self, admin_client, context):
        page = admin_client.get(address("key-0")).content.decode()

        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page

    def test_shows_markup_inside_a_mark_as_text(self, admin_client):
        turns = [{"role": "seeker", "text": "so <3 sad & low"}]
        found = [{"rule": "distress", "turn": 0, "start": 3, "end": 9}]
        make_reviewable(turns=turns, provenance={"findings": found})

        assert marks(admin_client.get(address("key-0"))) == [("&lt;3 sad", "1")]

    def test_shows_the_original_reply_and_the_situation_apart(self, admin_client, context):
        page = text(admin_client.get(address("key-0")))

        hidden = page.index("What raters do not see")
        assert page.index("I feel -") < hidden < page.index("Would it help to")
        assert hidden < page.index("Shouting")

    def test_shows_a_stored_reply_before_that_of_the_dialogue(self, admin_client, context):
        original = make_system(kind=SystemKind.ORIGINAL)
        make_completion(context=context, system=original, text="Another answer.")

        page = text(admin_client.get(address("key-0")))

        assert "Another answer." in page
        assert "Would it help to" not in page

    def test_says_where_it_comes_from(self, admin_client, context):
        page = text(admin_client.get(address("key-0")))

        for said in ("fear, job", "distress, help", "screening-1 abc", "cells-2 , seed 7"):
            assert said in page
        assert context.dialogue.content_hash[:12] in page

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
        make_screening_call(
            candidate=candidate,
            assistant=make_assistant(name="Simulated ash", is_simulated=True),
            state=CallState.DONE,
            ended_at=NOW,
            raw_answer="{}",
            opinion=opinion,
        )
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
    def rewrite(self, context):
        turns = [dict(turn) for turn in context.turns]
        turns[3]["text"] = "You are useless; what should I do?"
        return make_reviewable(
            dataset=context.dataset,
            key="hostile",
            dialogue=context.dialogue,
            turns=turns,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile=EscalationProfile.LINEAR_RAMP,
            source_context=context,
            is_simulated=True,
            provenance={
                "target": [2, 10],
                "measured": [3, 9],
                "rewriter": {"model_id": "openai/pen", "is_simulated": True},
                "rounds": 2,
            },
        )

    def test_shows_its_profile_source_and_curve(self, admin_client, rewrite):
        answer = admin_client.get(address("hostile"))

        page = text(answer)
        assert "A steady climb, from key-0" in page
        assert "Wanted Measured 1 2 3 2 10 9" in page
        assert address("key-0") in addresses(answer)
        assert 'points="0.0,96.0 320.0,0.0"' in answer.content.decode()

    def test_shows_what_changed_when_its_provenance_does_not_say(self, admin_client, rewrite):
        page = admin_client.get(address("hostile")).content.decode()

        assert re.findall("<del>(.*?)</del>", page) == ["I feel - so sad;"]
        assert re.findall("<ins>(.*?)</ins>", page) == ["You are useless;"]

    def test_shows_the_changes_that_its_provenance_has(self, admin_client, rewrite):
        pieces = [["same", "So"], ["removed", "it was"], ["added", "“be” it"]]
        rewrite.provenance |= {"diff": [{"turn": 1, "pieces": pieces}]}
        rewrite.save()

        page = admin_client.get(address("hostile")).content.decode()

        assert re.findall("<del>(.*?)</del>", page) == ["it was"]
        assert re.findall("<ins>(.*?)</ins>", page) == ["&quot;be&quot; it"]

    def test_says_that_it_is_simulated(self, admin_client, rewrite):
        page = text(admin_client.get(address("hostile")))

        assert "adversarial simulated" in page
        assert "Test data: this person’s messages were written by a program" in page


class TestTheCandidate:
    def test_is_shown_like_a_context_without_anything_to_decide(self, admin_client):
        dialogue = make_dialogue(
            dataset=make_dataset(slug="talks"), turns=TURNS, situation=SITUATION
        )
        candidate = make_candidate(
            dialogue=dialogue,
            turn_index=3,
            findings=FINDINGS,
            reasons=["violence", "clinical"],
            is_suitable=False,
        )

        answer = admin_client.get(f"/console/contexts/talks/candidates/{candidate.pk}/")

        page = text(answer)
        assert "removed violence, clinical" in page
        assert ("write to her", "4") in marks(answer)
        assert 'name="decision"' not in answer.content.decode()

    def test_leads_to_its_neighbours_in_the_same_filter(self, admin_client):
        dialogue = make_dialogue(dataset=make_dataset(slug="talks"), turns=TURNS * 3)
        rows = [
            make_candidate(
                dialogue=dialogue,
                turn_index=1 + 2 * place,
                reasons=[rule],
                is_suitable=False,
            )
            for place, rule in enumerate(("violence", "hate", "violence", "violence"))
        ]

        linked = addresses(
            admin_client.get(
                f"/console/contexts/talks/candidates/{rows[2].pk}/?rule=violence&how=alone"
            )
        )

        for row in (rows[0], rows[3]):
            assert f"/console/contexts/talks/candidates/{row.pk}/?rule=violence&how=alone" in linked
