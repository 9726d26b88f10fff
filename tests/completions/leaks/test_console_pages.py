"""The console's page of completions that are held back."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from completions.choices import HoldState
from completions.leaks import queries, services
from completions.models import Hold
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_system,
)
from tests.helpers.factories_of_people import make_hold
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

HELD = "/console/contexts/talks/held/"


@pytest.fixture
def dataset():
    return make_dataset(slug="talks")


def hold(dataset, words="As an AI, I hear you.", **fields):
    context = make_context(dialogue=make_dialogue(dataset=dataset))
    completion = make_completion(context=context, text=words, **fields)
    found = queries.find_new_leaks(dataset.pk)
    services.hold_leaks(dataset=dataset, found=found, now=NOW)
    return Hold.objects.get(completion=completion)


def decide(client, held, **posted):
    address = reverse("contexts:decide", args=["talks", held.pk])
    return client.post(address, posted, follow=True)


class TestAccess:
    @pytest.mark.parametrize("is_user", [False, True], ids=["nobody", "a user who is no member"])
    def test_others_see_and_decide_nothing(self, dataset, is_user):
        held = hold(dataset)
        client = Client()
        if is_user:
            client.force_login(User.objects.create_user("ada"))
        address = reverse("contexts:decide", args=["talks", held.pk])

        answers = [client.get(HELD), client.post(address, {"decision": "RELEASED", "reason": "x"})]

        for one in answers:
            assert_turned_away(one)
        assert Hold.objects.get().state == HoldState.HELD

    def test_what_is_not_there_is_not_found(self, admin_client, dataset):
        held = hold(make_dataset(slug="others"))

        assert admin_client.get(f"{HELD}?state=LOST").status_code == 404
        assert decide(admin_client, held, decision="RELEASED", reason="x").status_code == 404


class TestPage:
    def test_shows_the_text_the_source_and_the_words_that_matched(self, admin_client, dataset):
        assert "None waits now" in text(admin_client.get(HELD))
        hold(dataset, "As an AI, I hear you. <script>", system=make_system(name="Okapi 7"))
        hold(dataset, "ChatGPT says hello.")

        answer = admin_client.get(HELD)

        page = text(answer)
        assert "As an AI, I hear you. &lt;script&gt;" in page
        assert "Okapi 7" in page
        assert "self-identification : As an AI" in page
        assert [(name, n) for name, n, _ in answer.context["by_reason"]] == [
            ("self-identification", 1),
            ("model-name", 1),
        ]

    def test_turns_pages_at_a_fixed_number_of_queries(
        self, admin_client, dataset, django_assert_max_num_queries
    ):
        for _ in range(31):
            context = make_context(dialogue=make_dialogue(dataset=dataset))
            make_hold(completion=make_completion(context=context))

        # Session and user; the dataset; the counts; the number of rows; the rows.
        with django_assert_max_num_queries(6):
            first = admin_client.get(HELD)
        assert "Page 1 of 2" in text(first)
        assert "Page 2 of 2" in text(admin_client.get(f"{HELD}?state=HELD&page=2"))


class TestDecisions:
    @pytest.mark.parametrize(
        ("decision", "said"),
        [("RELEASED", "the next plan may pair it"), ("DROPPED", "no plan will pair it")],
    )
    def test_are_kept_with_who_and_why(self, admin_client, admin_user, dataset, decision, said):
        held = hold(dataset)

        page = text(decide(admin_client, held, decision=decision, reason="I read it."))

        held.refresh_from_db()
        assert (held.state, held.decision_reason) == (decision, "I read it.")
        assert held.decided_by == admin_user
        assert said in page
        assert "I read it." in text(admin_client.get(f"{HELD}?state={decision}"))

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({"decision": "RELEASED", "reason": " "}, "Say why"),
            ({"reason": "x"}, "Choose"),
            ({"decision": "HELD", "reason": "x"}, "Select a valid choice"),
        ],
        ids=["no reason", "no decision", "another decision"],
    )
    def test_that_lack_something_change_nothing(self, admin_client, dataset, posted, said):
        held = hold(dataset)

        assert said in text(decide(admin_client, held, **posted))
        held.refresh_from_db()
        assert held.state == HoldState.HELD


class TestSeveralAtOnce:
    def decide(self, client, held, **posted):
        address = f"{reverse('contexts:decide_many', args=['talks'])}?state=HELD"
        return client.post(address, {"holds": [one.pk for one in held]} | posted, follow=True)

    def test_are_released_with_one_reason(self, admin_client, dataset):
        first, second, third = (hold(dataset) for _ in range(3))

        answer = self.decide(admin_client, [first, second], decision="RELEASED", reason="A saying.")

        assert "2: Released" in text(answer)
        assert set(Hold.objects.values_list("pk", "state", "decision_reason")) == {
            (first.pk, "RELEASED", "A saying."),
            (second.pk, "RELEASED", "A saying."),
            (third.pk, "HELD", ""),
        }

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({"decision": "RELEASED"}, "Say why"),
            ({"reason": "A saying."}, "Choose: release it, or drop it."),
            ({"decision": "RELEASED", "reason": "A saying.", "holds": []}, "Nothing was decided"),
            (
                {"decision": "RELEASED", "reason": "A saying.", "holds": ["x"]},
                "Nothing was decided",
            ),
        ],
    )
    def test_nothing_is_decided_where_nothing_is_meant(self, admin_client, dataset, posted, said):
        held = hold(dataset)

        assert said in text(self.decide(admin_client, [held], **posted))
        assert Hold.objects.get().state == HoldState.HELD
