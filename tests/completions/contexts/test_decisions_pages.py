"""What a reviewer's form does: store, log, and lead on."""

import re

import pytest
from django.test import Client

from access.models import LogEntry
from completions.choices import Review
from completions.models import Context
from tests.helpers.datasets import address, make_reviewable
from tests.helpers.factories import make_dataset
from tests.helpers.pages import addresses, text

pytestmark = pytest.mark.django_db


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

    def stored(self, key):
        return Context.objects.get(key=key)

    @pytest.mark.parametrize("decision", ["KEPT", "DROPPED"])
    def test_stores_it_with_the_note_and_who_decided(
        self, admin_client, admin_user, contexts, decision
    ):
        decide(admin_client, "key-0", decision, note="  names a town \r\n")

        assert (self.stored("key-0").review, self.stored("key-0").review_note) == (
            decision,
            "names a town",
        )
        assert LogEntry.objects.get().by == admin_user

    def test_goes_on_to_the_next_that_waits(self, admin_client, contexts):
        Context.objects.filter(key="key-1").update(review=Review.KEPT)

        answer = decide(admin_client, "key-0", "KEPT")

        assert (answer.status_code, answer["Location"]) == (302, address("key-2"))

    def test_begins_again_at_the_start_when_the_end_is_reached(self, admin_client, contexts):
        assert decide(admin_client, "key-3", "KEPT")["Location"] == address("key-0")

    @pytest.mark.parametrize("query", ["?review=PENDING", "?review=PENDING&emotion=fear"])
    def test_stays_in_the_filter(self, admin_client, dataset, contexts, query):
        answer = decide(admin_client, "key-1", "DROPPED", query=query)

        assert answer["Location"] == address("key-2", query)

    def test_passes_over_what_the_filter_leaves_out(self, admin_client, contexts):
        contexts[1].dialogue.emotion_type = "joy"
        contexts[1].dialogue.save()

        answer = decide(admin_client, "key-0", "KEPT", query="?emotion=fear")

        assert answer["Location"] == address("key-2", "?emotion=fear")

    def test_goes_through_decisions_in_their_order(self, admin_client, contexts):
        Context.objects.exclude(key="key-1").update(review=Review.DROPPED)

        answer = decide(admin_client, "key-0", "KEPT", query="?review=DROPPED")

        assert answer["Location"] == address("key-2", "?review=DROPPED")

    def test_ends_at_the_list_when_nothing_waits(self, admin_client, contexts):
        Context.objects.exclude(key="key-0").update(review=Review.KEPT)

        answer = decide(admin_client, "key-0", "KEPT", follow=True)

        assert answer.redirect_chain[-1][0].startswith("/console/contexts/talks/list/")
        assert "Everything here is reviewed." in text(answer)

    def test_ends_at_the_list_after_the_last_decision_of_its_kind(self, admin_client, contexts):
        Context.objects.filter(key="key-3").update(review=Review.DROPPED)

        answer = decide(admin_client, "key-3", "KEPT", query="?review=DROPPED", follow=True)

        assert answer.redirect_chain[-1][0] == "/console/contexts/talks/list/?review=DROPPED"
        assert "Everything here is reviewed." not in text(answer)

    def test_says_what_it_did_with_the_way_back(self, admin_client, contexts):
        answer = decide(admin_client, "key-0", "DROPPED", follow=True)

        assert "Dropped: key-0" in text(answer)
        assert address("key-0") in addresses(answer)
        assert "1 of 4 reviewed" in text(answer)

    def test_saves_a_note_alone_and_stays(self, admin_client, contexts):
        answer = decide(admin_client, "key-0", "", note="look again")

        assert answer["Location"] == address("key-0")
        assert self.stored("key-0").review == Review.PENDING
        assert "look again" in text(admin_client.get(address("key-0")))

    def test_takes_a_decision_back_and_stays(self, admin_client, contexts):
        Context.objects.filter(key="key-0").update(review=Review.DROPPED)
        assert "Take the decision back" in text(admin_client.get(address("key-0")))

        answer = decide(admin_client, "key-0", "PENDING")

        assert answer["Location"] == address("key-0")
        assert self.stored("key-0").review == Review.PENDING

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
        assert self.stored("key-0").review == Review.PENDING
        assert note in answer.content.decode()

    def test_needs_the_form_of_the_site_and_a_post(self, admin_user, admin_client, contexts):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(admin_user)

        assert decide(strict, "key-0", "KEPT").status_code == 403
        assert admin_client.get(address("key-0", "review/")).status_code == 405

    def test_is_for_staff(self, contexts):
        answer = decide(Client(), "key-0", "DROPPED")

        assert answer.status_code == 302
        assert self.stored("key-0").review == Review.PENDING

    def test_leads_to_the_contexts_before_and_after(self, admin_client, contexts):
        linked = addresses(admin_client.get(address("key-1", "?emotion=fear")))

        assert {address("key-0", "?emotion=fear"), address("key-2", "?emotion=fear")} <= linked

    def test_costs_no_more_than_fifteen_queries(
        self, admin_client, contexts, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(15):
            admin_client.get(address("key-1"))
        with django_assert_max_num_queries(15):
            decide(admin_client, "key-1", "KEPT", note="fine")
