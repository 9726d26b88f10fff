"""The funnel as a picture: its counts, its bars, and the rows that they open."""

import re

import pytest

from completions.choices import EscalationProfile, RewriteState, Stratum
from tests.helpers.datasets import make_screened_dataset, make_turns, screen
from tests.helpers.factories import NOW, make_context, make_dataset, make_dialogue, make_rewrite
from tests.helpers.pages import addresses, text

pytestmark = pytest.mark.django_db

CANDIDATES = "/console/contexts/talks/candidates/"
FUNNEL = "/console/contexts/talks/"


@pytest.fixture
def dataset():
    return make_screened_dataset("talks")


class TestFunnel:
    def test_shows_every_count(self, admin_client, dataset):
        page = text(admin_client.get(FUNNEL))

        for said in (
            "60 utterances",
            "in 12 turns",
            "from 1 dialogue",
            "All candidates 6",
            "2 wait",
        ):
            assert said in page
        assert "violence Violence, threats or abuse. 2 3 1" in page
        assert re.search(r"no signal .* 1 Suitable 2 Chosen 2", page)

    def test_its_bars_follow_each_other_down_to_what_is_left(self, admin_client, dataset):
        picture = admin_client.get(FUNNEL).context["picture"]

        bars = [line.bar for line in picture.rules] + [picture.no_signal]
        left = 100.0
        for bar in bars:
            assert bar.x + bar.width == pytest.approx(left, abs=0.02)
            left = bar.x
        assert left == pytest.approx(picture.suitable.width, abs=0.02)

    def test_its_counts_open_exactly_their_rows(self, admin_client, dataset):
        page = admin_client.get(FUNNEL)
        linked = re.findall(
            r'href="(/console/contexts/talks/(?:list|candidates)/[^"]*)">([\d,]+)</a>',
            page.content.decode(),
        )

        assert len(linked) > 20
        for address, count in linked:
            rows = admin_client.get(address.replace("&amp;", "&")).context["page"]
            assert rows.n == int(count), address

    def test_shows_cells_and_emotions_before_and_after(self, admin_client, dataset):
        page = text(admin_client.get(FUNNEL))

        assert "fear 2 66.7% 4 66.7% 2 100.0% 2 100.0%" in page
        assert "fear exam 1 33.3% 1 16.7% 0 0.0% 0 0.0%" in page

    def test_asks_for_dialogues_without_a_label(self, admin_client, dataset):
        dialogue = make_dialogue(dataset=dataset, turns=make_turns(1))
        screen(dialogue, "suitable")

        assert f"{CANDIDATES}?emotion=-" in addresses(admin_client.get(FUNNEL))
        assert admin_client.get(f"{CANDIDATES}?emotion=-").context["page"].n == 1

    def test_says_why_rewrites_were_given_up_and_what_is_simulated(self, admin_client, dataset):
        source = dataset.contexts.first()
        context = make_context(
            dialogue=source.dialogue,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile=EscalationProfile.ALWAYS_10,
            source_context=source,
            is_simulated=True,
        )
        make_rewrite(
            source_context=source, state=RewriteState.ACCEPTED, ended_at=NOW, context=context
        )
        make_rewrite(
            source_context=source,
            profile=EscalationProfile.MID_RAMP,
            state=RewriteState.DROPPED,
            reason="The last turn was <calm>.",
            ended_at=NOW,
        )

        answer = admin_client.get(FUNNEL)

        assert "The last turn was &lt;calm&gt;." in answer.content.decode()
        assert "Simulated: a program wrote these seekers" in text(answer)
        assert f"/console/contexts/talks/{context.key}/" in addresses(answer)

    def test_says_what_comes_next_before_anything_is_screened(self, admin_client):
        make_dataset(slug="talks")

        page = text(admin_client.get(FUNNEL))

        assert "No dialogues yet. Import dialogues" in page
        assert "What screening removed" not in page
