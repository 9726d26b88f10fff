"""The console's lists of datasets, contexts and candidates."""

import pytest
from django.test import Client
from django.urls import reverse

from completions.choices import CallState, EscalationProfile, Review, Stratum
from completions.models import Context
from tests.helpers.datasets import make_screened_dataset, make_turns, screen
from tests.helpers.factories import (
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_screening_call,
)
from tests.helpers.factories_written_once import make_member, make_user
from tests.helpers.pages import addresses, assert_turned_away, text

pytestmark = pytest.mark.django_db

LIST = "/console/contexts/talks/list/"
CANDIDATES = "/console/contexts/talks/candidates/"


@pytest.fixture
def dataset():
    return make_screened_dataset("talks")


def keys(answer):
    return [row.key for row in answer.context["page"].rows]


def sign_in(*, is_member):
    client = Client()
    client.force_login(make_member("ada") if is_member else make_user(username="ada"))
    return client


class TestAccess:
    @pytest.fixture
    def pages(self, dataset):
        candidate = dataset.dialogues.first().candidates.first()
        context = dataset.contexts.first()
        return [
            reverse("contexts:datasets"),
            reverse("contexts:funnel", args=["talks"]),
            reverse("contexts:list", args=["talks"]),
            reverse("contexts:candidates", args=["talks"]),
            reverse("contexts:candidate", args=["talks", candidate.pk]),
            reverse("contexts:context", args=["talks", context.key]),
        ]

    @pytest.mark.parametrize(
        "visit",
        [
            pytest.param(Client, id="nobody"),
            pytest.param(lambda: sign_in(is_member=False), id="a user who is no member"),
        ],
    )
    def test_others_are_turned_away(self, pages, visit):
        client = visit()
        for page in pages:
            answer = client.get(page)

            assert_turned_away(answer)

    def test_staff_see_every_page_and_leave_none_in_a_cache(self, pages):
        client = sign_in(is_member=True)
        for page in pages:
            answer = client.get(page)

            assert answer.status_code == 200, page
            assert "no-store" in answer["Cache-Control"]

    @pytest.mark.parametrize(
        "address",
        [
            "/console/contexts/nowhere/",
            "/console/contexts/nowhere/list/",
            "/console/contexts/talks/nothing/",
            "/console/contexts/talks/candidates/999999/",
            f"{LIST}?review=MAYBE",
            f"{LIST}?stratum=SOME",
            f"{CANDIDATES}?outcome=lost",
            f"{CANDIDATES}?rule=violence&how=never",
            f"{CANDIDATES}?opinion=odd",
        ],
    )
    def test_what_does_not_exist_is_not_found(self, dataset, admin_client, address):
        assert admin_client.get(address).status_code == 404

    def test_a_context_of_another_dataset_is_not_found(self, dataset, admin_client):
        other = make_context()

        address = reverse("contexts:context", args=["talks", other.key])
        assert admin_client.get(address).status_code == 404

    def test_the_console_leads_there(self, admin_client):
        assert "/console/contexts/" in addresses(admin_client.get("/console/"))


class TestDatasets:
    def test_says_how_to_begin(self, admin_client):
        assert "There is none yet" in text(admin_client.get("/console/contexts/"))

    def test_counts_each_dataset_on_its_own(self, admin_client, dataset):
        dataset.contexts.filter(turn_index=0).update(review=Review.DROPPED)
        make_context(dialogue=make_dialogue(dataset=make_dataset(name="Another")))

        other, ours = admin_client.get("/console/contexts/").context["datasets"]

        assert other.name == "Another"
        assert (ours.n_dialogues, ours.n_contexts, ours.n_reviewed, ours.n_dropped) == (3, 2, 1, 1)
        assert (other.n_dialogues, other.n_contexts, other.n_reviewed) == (1, 1, 0)


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

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", "0123"),
            ("review=PENDING", "03"),
            ("review=KEPT", "1"),
            ("review=DROPPED", "2"),
            ("review=IN_USE", "013"),
            ("emotion=fear", "01"),
            ("problem=job", "12"),
            ("emotion=fear&problem=job", "1"),
            ("emotion=-", "3"),
            ("emotion=joy", ""),
            ("q=KEY-2", "2"),
            ("q=+key-2+", "2"),
            ("q=%25", ""),
            ("stratum=REGULAR&review=IN_USE&emotion=fear", "01"),
            ("stratum=ADVERSARIAL", ""),
        ],
    )
    def test_shows_what_is_asked_for(self, admin_client, contexts, query, found):
        assert keys(admin_client.get(f"{LIST}?{query}")) == [f"key-{n}" for n in found]

    def test_lists_regular_contexts_first(self, admin_client, contexts):
        make_context(
            key="a-hostile",
            dialogue=contexts[0].dialogue,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile=EscalationProfile.MID_SPIKE,
            source_context=contexts[0],
            is_simulated=True,
        )

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

    def test_says_how_far_the_review_is(self, admin_client, contexts):
        assert "2 of 4 reviewed" in text(admin_client.get(LIST))
        assert "1 of 2 reviewed" in text(admin_client.get(f"{LIST}?emotion=fear"))

    def test_leads_to_the_first_that_waits(self, admin_client, contexts):
        Context.objects.filter(key="key-0").update(review=Review.KEPT)

        answer = admin_client.get(f"{LIST}?review=KEPT")

        assert "Go on reviewing" in text(admin_client.get(LIST))
        assert "/console/contexts/talks/key-3/" in addresses(admin_client.get(LIST))
        assert keys(answer) == ["key-0", "key-1"]

    def test_says_when_nothing_matches_and_when_nothing_is_there(self, admin_client, contexts):
        assert "No context matches" in text(admin_client.get(f"{LIST}?emotion=joy"))
        make_dataset(slug="empty")
        assert "There are none yet" in text(admin_client.get("/console/contexts/empty/list/"))

    def test_shows_notes_and_turns_as_text(self, admin_client, contexts):
        turns = [{"role": "seeker", "text": "<script>alert(1)</script> I “said” so — sadly"}]
        Context.objects.filter(key="key-0").update(review_note="<b>bold</b>", turns=turns)

        page = admin_client.get(LIST).content.decode()

        assert "<script>alert" not in page
        assert "&lt;b&gt;bold" in page
        assert "I &quot;said&quot; so - sadly" in page


class TestCandidateList:
    @pytest.mark.parametrize(
        ("query", "n"),
        [
            ("", 6),
            ("outcome=suitable", 2),
            ("outcome=no-signal", 1),
            ("outcome=removed", 3),
            ("rule=violence", 3),
            ("rule=violence&how=first", 2),
            ("rule=violence&how=alone", 1),
            ("rule=too-short", 1),
            ("rule=too-short&how=first", 0),
            ("rule=weather", 0),
            ("rule=violence&emotion=fear", 1),
            ("emotion=fear&problem=exam", 1),
        ],
    )
    def test_shows_what_is_asked_for(self, admin_client, dataset, query, n):
        assert admin_client.get(f"{CANDIDATES}?{query}").context["page"].n == n

    def test_shows_the_reasons_of_a_removed_one(self, admin_client, dataset):
        page = text(admin_client.get(f"{CANDIDATES}?rule=self-harm"))

        assert "removed self-harm, violence" in page

    @pytest.mark.parametrize(
        ("opinion", "n"), [("agreed", 0), ("disagreed", 1), ("waiting", 1), ("failed", 0)]
    )
    def test_finds_second_opinions(self, admin_client, dataset, opinion, n):
        first, second, *_ = dataset.dialogues.first().candidates.order_by("turn_index")
        done = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}
        make_screening_call(candidate=first, opinion={"qualifies": False}, **done)
        make_screening_call(candidate=second)

        assert admin_client.get(f"{CANDIDATES}?opinion={opinion}").context["page"].n == n

    def test_comes_in_the_order_of_the_source(self, admin_client, dataset):
        rows = admin_client.get(CANDIDATES).context["page"].rows

        places = [(row.dialogue, row.turn) for row in rows]
        assert places == sorted(places)


@pytest.mark.parametrize(
    "path", ["", "talks/", "talks/list/", "talks/candidates/", "talks/candidates/?opinion=agreed"]
)
def test_no_page_costs_more_than_fifteen_queries(admin_client, django_assert_max_num_queries, path):
    dataset = make_screened_dataset("talks")
    for _ in range(10):
        dialogue = make_dialogue(dataset=dataset, turns=make_turns(3))
        screen(dialogue, "suitable", [], ["violence"])
        make_context(dialogue=dialogue)

    with django_assert_max_num_queries(15):
        admin_client.get(f"/console/contexts/{path}")


class TestSeveralAtOnce:
    def decide(self, client, keys, decision, query=""):
        address = reverse("contexts:review_many", args=["talks"]) + query
        return client.post(address, {"keys": keys, "decision": decision}, follow=True)

    def reviews(self, keys):
        return set(Context.objects.filter(key__in=keys).values_list("review", flat=True))

    def test_are_kept_dropped_and_taken_back(self, admin_client, dataset):
        context = dataset.contexts.first()
        context.review_note = "Read twice."
        context.save()
        ticked = list(dataset.contexts.values_list("key", flat=True))

        for decision, said in (
            ("KEPT", "Kept"),
            ("DROPPED", "Dropped"),
            ("PENDING", "Not reviewed"),
        ):
            answer = self.decide(admin_client, ticked, decision)
            assert self.reviews(ticked) == {decision}
            assert said in text(answer)
        context.refresh_from_db()
        assert context.review_note == "Read twice."

    def test_are_those_that_are_ticked_and_the_filter_stays(self, admin_client, dataset):
        make_context(dialogue=dataset.dialogues.first(), turn_index=7)
        one, other = dataset.contexts.values_list("key", flat=True)[:2]

        answer = self.decide(admin_client, [one], "KEPT", "?review=PENDING")

        assert (self.reviews([one]), self.reviews([other])) == ({"KEPT"}, {"PENDING"})
        assert answer.redirect_chain == [(f"{LIST}?review=PENDING", 302)]

    @pytest.mark.parametrize(
        ("keys", "decision"),
        [([], "KEPT"), (["x"], "OTHER"), (["x"], "")],
        ids=["none", "odd", "no"],
    )
    def test_nothing_is_decided_where_nothing_is_meant(self, admin_client, dataset, keys, decision):
        answer = self.decide(admin_client, keys, decision)

        assert "Nothing was decided" in text(answer)
        assert set(dataset.contexts.values_list("review", flat=True)) == {Review.PENDING}

    def test_a_context_of_another_dataset_is_left_alone(self, admin_client, dataset):
        other = make_context()

        self.decide(admin_client, [other.key], "DROPPED")

        other.refresh_from_db()
        assert other.review == Review.PENDING
