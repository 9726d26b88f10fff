"""The console's pages on strategies: blind labelling, settling, scores."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from completions.models import HumanLabelling, LabellingRun, SpotCheck, StrategyCall
from tests.completions.strategies.conftest import FACTS, HOPE, REST
from tests.helpers.factories import NOW, make_completion, make_context, make_dataset, make_system
from tests.helpers.factories_of_calls import (
    label,
    make_human_labelling,
    make_labelled,
    make_sampled,
    make_spot_check,
    make_spot_check_item,
    make_strategy_call,
)
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

DASH = "\N{EN DASH}"
OVERVIEW = "/console/strategies/talks/"


def client_of(person):
    client = Client()
    client.force_login(person)
    return client


def page(check, number, name="label"):
    return reverse(f"strategies:{name}", args=["talks", check.pk, number])


def post(person, check, number, *found, name="store", follow=False, **fields):
    posted = {"found": list(found), **fields}
    return client_of(person).post(page(check, number, name), posted, follow=follow)


def ticked(answer):
    boxes = re.findall(r'<input type="checkbox"[^>]*name="found"[^>]*>', answer.content.decode())
    assert boxes
    return {re.findall('value="([^"]+)"', box)[0] for box in boxes if " checked" in box}


def test_both_pages_ask_as_often_for_many_items_as_for_few(
    dataset, ada, ben, django_assert_max_num_queries
):
    check, client = make_sampled(12, dataset=dataset), client_of(ada)
    label(check, ben, *[[HOPE]] * 12)

    with django_assert_max_num_queries(8):
        client.get(page(check, 1))
    label(check, ada, *[[HOPE]] * 12)
    with django_assert_max_num_queries(12):
        client.get(OVERVIEW)


class TestTheOverview:
    def test_says_how_to_begin(self, dataset, ada):
        said = text(client_of(ada).get(OVERVIEW))

        assert "No model was asked yet." in said
        assert "Start labelling" in said

    def test_tells_how_far_all_are_and_leads_each_to_their_next_text(self, dataset, ada, ben):
        check = make_sampled(3, dataset=dataset)
        make_strategy_call(completion=make_labelled(dataset, check.assistant))
        label(check, ada, [HOPE], [])

        answer = client_of(ben).get(OVERVIEW)

        said = text(answer)
        assert f"{check.assistant.name} 4 0 0 0" in said
        assert "Sample of 3 texts" in said
        assert "labelled by ada 2" in said
        assert "Label texts" in said
        assert page(check, 1) in answer.content.decode()
        assert page(check, 3) in client_of(ada).get(OVERVIEW).content.decode()

    def test_tells_nothing_of_what_was_found_before_both_are_through(self, dataset, ada, ben):
        check = make_sampled(2, dataset=dataset)
        label(check, ada, [HOPE], [REST])
        label(check, ben, [FACTS])

        said = text(client_of(ada).get(OVERVIEW)).partition("Checked by people")[2]

        assert "differ" not in said.replace("What differs can be settled", "")
        assert "Macro-F1" not in said

    def test_leads_to_what_differs_when_both_are_through(self, settling, cleo):
        answer = client_of(cleo).get(OVERVIEW)

        assert "texts on which they differ 2" in text(answer)
        assert page(settling, 1, "settle") in answer.content.decode()
        assert "Macro-F1" not in text(answer)

    def test_shows_scores_when_everything_is_settled(self, dataset, ada, ben):
        check = make_sampled(2, dataset=dataset)
        label(check, ada, [HOPE], [REST])
        label(check, ben, [HOPE], [REST])

        said = text(client_of(ada).get(OVERVIEW))

        assert "Macro-F1 0.333" in said
        assert "Affirmation 1 2 0.50 1.00 0.67 1.00" in said
        assert f"Chit-chat 0 0 {DASH} {DASH} {DASH} {DASH}" in said

    def test_never_shows_scores_of_a_simulated_assistant_without_that_word(self, dataset, ada, ben):
        check = make_sampled(1, dataset=dataset)
        kind = type(check.assistant).objects.filter(pk=check.assistant_id)
        kind.update(name="Simulated strategist", is_simulated=True)
        label(check, ada, [HOPE])
        label(check, ben, [HOPE])

        assert "Simulated: these scores mean nothing. Macro-F1" in text(
            client_of(ada).get(OVERVIEW)
        )

    def test_is_reached_from_the_list_of_datasets(self, dataset, ada, ben):
        check = make_sampled(2, dataset=dataset)
        make_strategy_call(completion=make_labelled(dataset, check.assistant))
        make_dataset(slug="quiet", name="Quiet")

        answer = client_of(ada).get("/console/strategies/")

        assert OVERVIEW in answer.content.decode()
        rows = {row.slug: (texts, checks) for row, texts, checks in answer.context["datasets"]}
        assert rows == {"talks": (3, 1), "quiet": (0, 0)}


class TestStarting:
    def start(self, person, **fields):
        address = reverse("strategies:start", args=["talks"])
        return client_of(person).post(address, {"model": "offline"} | fields)

    def draw(self, person, **fields):
        address = reverse("strategies:draw", args=["talks"])
        asked = {"assistant": "simulated-strategist", "n": "1", "seed": "1"}
        return client_of(person).post(address, asked | fields)

    def test_a_model_labels_the_texts_that_it_has_not(self, dataset, ada):
        make_completion(context=make_context(dataset=dataset))

        answer = self.start(ada)

        run = LabellingRun.objects.get()
        assert answer["Location"] == reverse("models:run", args=["strategies", run.pk])
        assert (run.n_planned, run.created_by) == (1, ada)
        assert "Strategy labels, run" in text(client_of(ada).get(answer["Location"]))

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "Nothing was started"),
            ({"model": "two words"}, "Write the provider, a slash and the model"),
            ({"budget_usd": "much"}, "Give a sum of at least 0.01"),
        ],
        ids=["no text", "no model", "no sum"],
    )
    def test_nothing_is_started_where_that_cannot_be(self, dataset, ada, fields, said):
        answer = self.start(ada, **fields)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not LabellingRun.objects.exists()

    def test_a_sample_is_drawn_once_a_model_has_labelled_everything(self, dataset, ada):
        make_completion(context=make_context(dataset=dataset))
        self.start(ada)

        unknown = self.draw(ada, assistant="nobody", n="0")
        too_early = self.draw(ada)
        StrategyCall.objects.update(state="DONE", ended_at=NOW, claimed_at=NOW, raw_answer="{}")
        drawn = self.draw(ada)

        assert [one.status_code for one in (unknown, too_early, drawn)] == [422, 422, 302]
        assert "Choose a model that has labelled these texts." in text(unknown)
        assert "Nothing was drawn" in text(too_early)
        assert SpotCheck.objects.get().items.count() == 1


class TestATextToLabel:
    def test_stands_in_its_dialogue_with_every_definition(self, dataset, ada):
        check = make_sampled(1, dataset=dataset)
        item = check.items.get()

        answer = client_of(ada).get(page(check, 1))

        assert item.completion.text in text(answer)
        assert item.completion.context.turns[-1]["text"] in text(answer)
        assert "Names something good about the seeker" in text(answer)
        assert len(re.findall('name="found"', answer.content.decode())) == 15

    def test_says_nothing_of_its_source_the_model_or_the_other_person(self, dataset, ada, ben):
        check = make_spot_check(dataset=dataset)
        system = make_system(name="Zanzibar One", slug="zanzibar-one", family="zanzibar")
        found = make_labelled(dataset, check.assistant, HOPE, system=system, text="**All** is new.")
        item = make_spot_check_item(spot_check=check, completion=found)
        make_human_labelling(item=item, labeller=ben, strategies=[REST], note="Okapi")

        answer = client_of(ada).get(page(check, 1))

        body = answer.content.decode()
        assert ticked(answer) == set()
        for secret in ("anzibar", "Okapi", check.assistant.name, "**All**", "weighs", "0.9"):
            assert secret not in body
        assert "All is new." in body

    def test_is_stored_and_leads_to_the_next_and_is_shown_again_so(self, dataset, ada):
        check = make_sampled(3, dataset=dataset)

        answer = post(ada, check, 1, REST, HOPE, note="Close.")
        again = client_of(ada).get(page(check, 1))

        assert answer["Location"] == page(check, 2)
        row = HumanLabelling.objects.get()
        assert (row.strategies, row.note, row.labeller) == ([HOPE, REST], "Close.", ada)
        assert ticked(again) == {HOPE, REST}
        assert "Close." in text(again)
        assert "You have labelled 1 of 3" in text(again)

    def test_on_the_last_leads_back_with_thanks(self, dataset, ada):
        check = make_sampled(1, dataset=dataset)

        answer = post(ada, check, 1, follow=True)

        assert answer.redirect_chain == [(OVERVIEW, 302)]
        assert "That was the last one. Thank you!" in text(answer)

    def test_with_an_unknown_strategy_is_asked_for_again(self, dataset, ada):
        check = make_sampled(1, dataset=dataset)

        answer = post(ada, check, 1, HOPE, "humour", note="Kept.")

        assert answer.status_code == 422
        assert "That is no label of this page." in text(answer)
        assert ticked(answer) == {HOPE}
        assert "Kept." in text(answer)
        assert not HumanLabelling.objects.exists()

    def test_with_a_note_that_is_far_too_long_is_told(self, dataset, ada):
        answer = post(ada, make_sampled(1, dataset=dataset), 1, note="x" * 2001)

        assert answer.status_code == 422
        assert 'id="note-error"' in answer.content.decode()

    def test_is_not_for_a_third_person(self, dataset, ada, ben, cleo):
        check, client = make_sampled(2, dataset=dataset), client_of(cleo)
        label(check, ada, [HOPE])
        label(check, ben, [HOPE])

        overview = text(client.get(OVERVIEW))
        assert "Two people label this sample." in overview
        assert "Label texts" not in overview
        for answer in (
            client.get(page(check, 2), follow=True),
            client.post(page(check, 2, "store"), follow=True),
        ):
            assert answer.redirect_chain == [(OVERVIEW, 302)]
            assert "Two people label this sample already." in text(answer)

    def test_stays_as_it_is_when_both_are_through(self, settling, ada):
        looked = client_of(ada).get(page(settling, 1), follow=True)
        posted = post(ada, settling, 1, follow=True)

        for answer in (looked, posted):
            assert "Both people are through, so labels stay as they are." in text(answer)
        assert HumanLabelling.objects.count() == 6

    def test_that_is_not_there_or_of_another_dataset_is_not_found(self, dataset, ada):
        check = make_sampled(1, dataset=dataset)
        addresses = [page(check, 0), page(check, 2), page(make_sampled(1), 1)]

        assert [client_of(ada).get(one).status_code for one in addresses] == [404] * 3


class TestATextToSettle:
    def test_shows_what_only_one_found_and_neither_the_model_nor_who(self, settling, cleo):
        answer = client_of(cleo).get(page(settling, 1, "settle"))

        said, body = text(answer), answer.content.decode()
        assert re.findall('name="found" value="([^"]+)"', body) == [REST, FACTS]
        assert "Both found: Affirmation." in said
        assert "found by the first" in said
        assert "found by the second" in said
        assert ticked(answer) == set()
        assert "0 of 2 are settled" in said
        for secret in (settling.assistant.name, ">ada<", ">ben<", "by ada", "by ben", "0.9"):
            assert secret not in body

    def test_is_stored_and_leads_to_the_next_that_differs_and_then_to_scores(self, settling, cleo):
        answer = post(cleo, settling, 1, FACTS, name="store-settled", note="By the words.")
        again = client_of(cleo).get(page(settling, 1, "settle"))
        last = post(cleo, settling, 3, REST, name="store-settled", follow=True)

        assert answer["Location"] == page(settling, 3, "settle")
        row = HumanLabelling.objects.filter(is_adjudication=True).earliest("pk")
        assert (row.strategies, row.labeller) == ([HOPE, FACTS], cleo)
        assert ticked(again) == {FACTS}
        assert "By the words." in text(again)
        assert "Everything is settled." in text(last)
        assert "Macro-F1" in text(last)

    def test_refuses_to_change_what_both_found(self, settling, cleo):
        answer = post(cleo, settling, 1, HOPE, name="store-settled")

        assert answer.status_code == 422
        assert "it stands as it is" in text(answer)

    def test_on_which_both_agree_is_not_found(self, settling, cleo):
        assert client_of(cleo).get(page(settling, 2, "settle")).status_code == 404
        answer = post(cleo, settling, 2, name="store-settled", follow=True)
        assert "Both people agree on this text." in text(answer)

    def test_is_hidden_until_both_are_through(self, dataset, ada, ben):
        check = make_sampled(2, dataset=dataset)
        label(check, ada, [HOPE], [HOPE])
        label(check, ben, [REST])

        looked = client_of(ada).get(page(check, 1, "settle"), follow=True)
        posted = post(ada, check, 1, name="store-settled", follow=True)

        for answer in (looked, posted):
            assert "nobody sees the labels of others before both people are through" in text(answer)
            assert answer.redirect_chain == [(OVERVIEW, 302)]
