"""People check a model's labels: blind to each other and to the model until both are through."""

from functools import partial

import pytest

from access.models import LogEntry
from completions.choices import CallState, SystemKind
from completions.models import Completion, HumanLabelling, SpotCheck, StrategyCall
from completions.strategies import spot_check_queries
from completions.strategies.services import spot_checking
from completions.strategies.spot_check_queries import Phase
from completions.systems.services.registering import assistant_for
from tests.completions.strategies.conftest import FACTS, HOPE, REST, refused, strategies
from tests.helpers.factories import NOW, make_assistant, make_dataset, make_system, make_writer
from tests.helpers.factories_of_calls import (
    KEYS,
    label,
    make_labelled,
    make_person,
    make_sampled,
    make_strategy_call,
)
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db


ledger = spot_check_queries.ledger_of


def at(check, position):
    item = spot_check_queries.item_at(check, position)
    assert item is not None
    return item


def say(item, person, *found, **fields):
    return spot_checking.label_item(item=item, labeller=person, found=found, now=NOW, **fields)


def settle(item, person, *found, **fields):
    return spot_checking.adjudicate(item=item, by=person, found=found, now=NOW, **fields)


def delete_text(item):
    """Delete the text of an item at its writer's wish."""
    text = Completion.objects.filter(pk=item.completion_id)
    person = {"writer": make_writer(), "system": make_system(kind=SystemKind.HUMAN)}
    text.update(text="", erased_at=NOW, fixed_at=NOW, **person)


class TestASample:
    @pytest.fixture
    def assistant(self):
        return make_assistant()

    @pytest.fixture
    def draw(self, dataset, assistant):
        asked = {"dataset": dataset, "assistant": assistant, "seed": "1", "now": NOW}
        return lambda **fields: spot_checking.draw_sample(**asked | fields)

    def test_has_the_wanted_size_with_what_is_rare_in_an_order_of_its_own(
        self, dataset, assistant, draw, ada
    ):
        systems = [make_system(), make_system()]
        for number in range(11):
            make_labelled(dataset, assistant, HOPE, system=systems[number % 2])
        rare = make_labelled(dataset, assistant, HOPE, REST, system=systems[1])

        check = draw(n=6, by=ada)

        positions = check.items.order_by("position").values_list("position", flat=True)
        assert list(positions) == list(range(6))
        drawn = check.items.values_list("completion__system", flat=True)
        assert sorted(drawn) == sorted([one.pk for one in systems] * 3)
        assert check.items.filter(completion=rare).exists()
        entry = LogEntry.objects.get()
        assert (entry.by, entry.after["items"], entry.after["of"]) == (ada, 6, 12)

    def test_is_drawn_once_for_a_seed(self, dataset, assistant, draw):
        make_labelled(dataset, assistant)

        first = draw()
        make_labelled(dataset, assistant)

        assert (draw() == first, draw().items.count()) == (True, 1)
        assert draw(seed="2").items.count() == 2

    def test_leaves_out_what_brought_no_labels(self, dataset, assistant, draw):
        make_labelled(dataset, assistant)
        make_labelled(dataset, make_assistant())
        failed = make_labelled(dataset, assistant)
        StrategyCall.objects.filter(completion=failed).update(
            state=CallState.FAILED, error_kind="timeout"
        )

        assert draw().items.count() == 1

    def test_waits_for_the_assistant(self, dataset, assistant, draw):
        text = make_labelled(dataset, make_assistant())
        with pytest.raises(spot_checking.NotLabelledYetError, match="has labelled nothing"):
            draw()
        make_strategy_call(completion=text, assistant=assistant)

        with pytest.raises(spot_checking.NotLabelledYetError, match="1 texts wait"):
            draw()


class TestLabelling:
    def test_stores_what_a_person_finds_in_the_order_of_the_codebook(self, ada):
        check = make_sampled(1)

        row = say(at(check, 0), ada, REST, HOPE, note=" Close call. ")

        assert (row.strategies, row.note) == ([HOPE, REST], "Close call.")
        assert (row.labeller, row.is_adjudication, row.labelled_at) == (ada, False, NOW)

    def test_repeated_is_stored_once_and_of_a_change_the_newest_holds(self, ada):
        check = make_sampled(2)
        item = at(check, 0)

        assert say(item, ada, HOPE) == say(item, ada, HOPE)
        assert HumanLabelling.objects.count() == 1
        assert say(item, ada).strategies == []
        say(item, ada, REST)

        (said,) = ledger(check).people[ada.pk].values()
        assert said.found == {REST}

    def test_takes_two_people_and_no_third(self, ada, ben, cleo):
        check = make_sampled(2)
        say(at(check, 0), ada)
        say(at(check, 1), ben)

        with pytest.raises(spot_checking.TwoLabellersError):
            say(at(check, 0), cleo)
        assert say(at(check, 1), ada)

    def test_closes_when_both_are_through(self, ada, ben):
        check = make_sampled(2)
        label(check, ada, [HOPE], [])
        label(check, ben, [HOPE])
        assert say(at(check, 0), ada, REST)  # ben has one left
        say(at(check, 1), ben)

        with pytest.raises(spot_checking.LabellingClosedError):
            say(at(check, 0), ada, HOPE)

    def test_refuses_what_is_not_in_the_codebook(self, ada):
        with pytest.raises(spot_checking.UnknownStrategyError, match="not in the codebook: humour"):
            say(at(make_sampled(1), 0), ada, HOPE, "humour")


class TestSettling:
    def test_is_not_possible_before_both_are_through(self, ada, ben, cleo):
        check = make_sampled(2)
        label(check, ada, [HOPE], [HOPE])
        label(check, ben, [])

        for person in (ada, ben, cleo):
            with pytest.raises(spot_checking.LabellingOpenError):
                settle(at(check, 0), person, HOPE)
        assert ledger(check).differing == ()

    def test_keeps_what_both_found_and_decides_the_rest(self, settling, cleo):
        row = settle(at(settling, 0), cleo, FACTS)

        assert (row.strategies, row.is_adjudication) == ([HOPE, FACTS], True)

    @pytest.mark.parametrize(
        ("position", "found", "error", "said"),
        [
            (0, [HOPE], spot_checking.UnknownStrategyError, "not open in this item"),
            (0, [KEYS[5]], spot_checking.UnknownStrategyError, "not open in this item"),
            (1, [], spot_checking.NothingToSettleError, None),
        ],
        ids=["agreed", "found by nobody", "an item without a difference"],
    )
    def test_refuses_what_is_not_open(self, settling, cleo, position, found, error, said):
        with pytest.raises(error, match=said):
            settle(at(settling, position), cleo, *found)

    def test_can_be_done_again_and_the_newest_holds(self, settling, ada, cleo):
        settle(at(settling, 2), cleo, REST)
        settle(at(settling, 2), ada)
        settle(at(settling, 2), ada)

        assert HumanLabelling.objects.filter(is_adjudication=True).count() == 2
        assert ledger(settling).settled[at(settling, 2).pk].found == frozenset()

    def test_of_everything_ends_the_check(self, settling, cleo):
        def state():
            return ledger(settling).phase, ledger(settling).next_to_settle()

        assert state() == (Phase.SETTLING, 0)
        settle(at(settling, 0), cleo)
        assert state() == (Phase.SETTLING, 2)
        settle(at(settling, 2), cleo)
        assert state() == (Phase.SETTLED, None)


class TestTheWay:
    def test_leads_to_what_a_person_has_not_labelled(self, ada, ben):
        check = make_sampled(3)
        say(at(check, 1), ada)

        found = ledger(check)
        assert (found.next_to_label(ada.pk), found.next_to_label(ada.pk, after=0)) == (0, 2)
        assert found.next_to_label(ada.pk, after=2) == 0
        assert (found.n_labelled(ada.pk), found.n_labelled(ben.pk)) == (1, 0)

    def test_passes_over_deleted_texts(self, ada, ben):
        check = make_sampled(2)
        label(check, ada, [HOPE])
        label(check, ben, [HOPE])
        delete_text(at(check, 1))

        found = ledger(check)
        assert (found.phase, found.n_deleted, found.next_to_label(ada.pk)) == (
            Phase.SETTLED, 1, None,
        )  # fmt: skip
        assert spot_check_queries.item_at(check, 1) is None


class TestScores:
    def test_are_of_the_model_against_what_was_settled(self, ada, ben, cleo):
        """The model found hope in both; people settle on hope in one, and rest in both."""
        check = make_sampled(2)
        label(check, ada, [HOPE, REST], [REST])
        label(check, ben, [HOPE, REST], [HOPE, REST])
        settle(at(check, 1), cleo)

        scores = spot_check_queries.scores_of(check, ledger(check))

        assert scores is not None
        found = {one.strategy: one.f1 for one in scores.labels}
        assert [found[HOPE], found[REST]] == pytest.approx([2 / 3, 0])
        assert (found[FACTS], scores.n_items) == (None, 2)
        assert scores.macro_f1 == pytest.approx(1 / 3)

    def test_are_kept_back_until_everything_is_settled(self, ada, ben):
        check = make_sampled(1)
        assert spot_check_queries.scores_of(check, ledger(check)) is None
        label(check, ada, [HOPE])
        label(check, ben, [])

        assert spot_check_queries.scores_of(check, ledger(check)) is None

    def test_leave_out_what_another_assistant_found(self, ada, ben):
        check = make_sampled(1)
        label(check, ada, [HOPE])
        label(check, ben, [HOPE])
        other = make_labelled(check.dataset, make_assistant(), REST)
        StrategyCall.objects.filter(completion=other).update(completion=at(check, 0).completion_id)

        scores = spot_check_queries.scores_of(check, ledger(check))

        assert scores is not None
        assert (scores.macro_f1, scores.n_scored) == (1, 1)


def test_counts_of_an_assistants_calls_are_by_state():
    dataset, assistant = make_dataset(), make_assistant(name="Namer")
    make_labelled(dataset, assistant)
    waiting = make_labelled(dataset, make_assistant(name="Other"))
    make_strategy_call(completion=waiting, assistant=assistant)

    found = {one.name: one for one in spot_check_queries.asked_of(dataset)}

    assert (found["Namer"].n_done, found["Namer"].n_open, found["Other"].n_done) == (1, 1, 1)


class TestTheCommand:
    def test_draws_what_was_labelled_once_and_needs_labels(self, dataset):
        assert "has labelled nothing" in refused("sample", "--dataset", "talks")
        assistant = assistant_for("strategist", "offline")
        for _ in range(3):
            make_labelled(dataset, assistant, HOPE)

        said = strategies("sample", "--dataset", "talks", "--n", "2")

        check = SpotCheck.objects.get()
        assert said.strip() == (
            f"Spot check #{check.pk}: 2 texts to label at /console/strategies/talks/"
        )
        assert strategies("sample", "--dataset", "talks") == said

    def test_tells_scores_by_strategy_once_people_are_through(self, dataset, ada, ben):
        assert "`strategies sample` draws one" in refused("score", "--dataset", "talks")
        check = make_sampled(2, dataset=dataset)
        label(check, ada, [HOPE], [REST])
        assert "2 labellings of 2 texts are missing" in refused("score", "--dataset", "talks")
        label(check, ben, [HOPE], [REST])

        lines = strategies("score", "--dataset", "talks").splitlines()

        rows = {line.split()[0]: line.split()[1:] for line in lines[3:-1]}
        assert rows[HOPE] == ["1", "2", "0.50", "1.00", "0.67", "1.00"]
        assert rows[FACTS] == ["0", "0", "-", "-", "-", "-"]
        assert lines[-1].startswith("macro-F1 0.333 (95 % interval ")
        assert lines[-1].endswith("over 2 strategies; kappa between the two people 1.00")

    def test_waits_until_differences_are_settled(self, settling):
        assert "2 texts are to be settled first" in refused("score", "--dataset", "talks")

    def test_says_that_scores_of_a_simulated_assistant_mean_nothing(self, dataset, ada, ben):
        check = make_sampled(1, dataset=dataset)
        kind = type(check.assistant).objects.filter(pk=check.assistant_id)
        kind.update(name="Simulated strategist", is_simulated=True)
        for person in (ada, ben):
            label(check, person, [HOPE])

        said = strategies("score", "--dataset", "talks")

        assert "Simulated strategist (simulated: these scores mean nothing)" in said


def race(*acts):
    """Let people label at once, and say what came of each."""

    def say_or_tell(*act):
        try:
            say(*act)
        except (spot_checking.TwoLabellersError, spot_checking.LabellingClosedError) as error:
            return type(error)
        return "stored"

    return together([partial(say_or_tell, *act) for act in acts])


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestAtOnce:
    def test_of_four_who_begin_two_become_labellers(self):
        check = make_sampled(4)
        people = [make_person(name) for name in ("ada", "ben", "cleo", "dan")]
        items = check.items.order_by("position")

        said = race(*zip(items, people, strict=True))

        assert said.count(spot_checking.TwoLabellersError) == said.count("stored") == 2
        assert len(ledger(check).people) == 2

    def test_a_label_sent_twice_is_stored_once(self, ada):
        item = make_sampled(2).items.get(position=0)

        race(*[(item, ada, HOPE)] * 4)

        assert HumanLabelling.objects.count() == 1

    def test_no_label_changes_after_both_are_through(self, ada, ben):
        """Ada changes a label while Ben sends his last: before it, or not at all."""
        check = make_sampled(2)
        label(check, ada, [HOPE], [HOPE])
        label(check, ben, [HOPE])
        first, last = check.items.order_by("position")

        changed, sent = race((first, ada, REST), (last, ben))

        assert sent == "stored"
        *_, newest = HumanLabelling.objects.order_by("pk")
        assert newest.labeller == ben  # nothing came after it
        assert HumanLabelling.objects.count() == (5 if changed == "stored" else 4)

    def test_a_sample_drawn_twice_is_one(self):
        dataset, assistant = make_dataset(), make_assistant()
        for _ in range(3):
            make_labelled(dataset, assistant, HOPE)
        draw = partial(
            spot_checking.draw_sample, dataset=dataset, assistant=assistant, seed="1", now=NOW, n=2
        )

        drawn = together([draw] * 4)

        assert len(set(drawn)) == SpotCheck.objects.count() == 1
        assert drawn[0].items.count() == 2
