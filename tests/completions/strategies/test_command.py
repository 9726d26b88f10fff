"""``strategies run``, ``sample`` and ``score``, as they are typed."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from completions.choices import CallState
from completions.models import LabellingRun, SpotCheck, StrategyCall, StrategyLabel
from tests.helpers.factories import make_completion, make_context, make_dialogue
from tests.helpers.factories_of_calls import KEYS, label, make_person, make_sampled
from tests.helpers.providers import ASKS_LITELLM

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]


def strategies(*asked):
    """Return what the command answers."""
    out = StringIO()
    call_command("strategies", *asked, stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(*asked):
    """Return why the command refuses."""
    with pytest.raises(CommandError) as error:
        strategies(*asked)
    assert error.value.returncode == 2
    return str(error.value)


@pytest.fixture
def texts(dataset):
    return [
        make_completion(context=make_context(dialogue=make_dialogue(dataset=dataset)))
        for _ in range(3)
    ]


class TestRun:
    def test_labels_every_text_once_and_says_how_it_went(self, texts, provider):
        said = strategies("run", "--dataset", "talks")

        assert "3 of 3 calls answered" in said
        assert StrategyLabel.objects.count() == 45
        assert "nothing is left to ask" in refused("run", "--dataset", "talks")

    def test_leaves_the_calls_to_workers_on_request_and_can_be_gone_on_with(self, texts, provider):
        said = strategies("run", "--dataset", "talks", "--no-wait")

        number = str(LabellingRun.objects.get().pk)
        assert f"manage.py strategies show {number}" in said
        assert set(StrategyCall.objects.values_list("state", flat=True)) == {CallState.PENDING}
        assert "stands still" in strategies("pause", number)
        assert "3 of 3 calls answered" in strategies("resume", number)
        assert f"#{number} has ended" in strategies("runs")

    def test_refuses_what_it_does_not_know(self, dataset):
        assert "no dataset" in refused("run", "--dataset", "walks")
        assert "no id of a model" in refused("run", "--dataset", "talks", "--assistant", "a b")


class TestSample:
    def test_draws_what_was_labelled(self, texts, provider):
        strategies("run", "--dataset", "talks")

        said = strategies("sample", "--dataset", "talks", "--n", "2")

        check = SpotCheck.objects.get()
        assert said.strip() == (
            f"Spot check #{check.pk}: 2 texts to label at /console/strategies/talks/"
        )
        assert strategies("sample", "--dataset", "talks") == said

    def test_needs_labels(self, texts):
        assert "has labelled nothing" in refused("sample", "--dataset", "talks")


class TestScore:
    @pytest.fixture
    def check(self, dataset):
        return make_sampled(2, dataset=dataset)

    def test_is_told_by_strategy(self, check):
        for name in ("ada", "ben"):
            label(check, make_person(name), [KEYS[0]], [KEYS[1]])

        lines = strategies("score", "--dataset", "talks").splitlines()

        rows = {line.split()[0]: line.split()[1:] for line in lines[3:-1]}
        assert rows[KEYS[0]] == ["1", "2", "0.50", "1.00", "0.67", "1.00"]
        assert rows[KEYS[2]] == ["0", "0", "-", "-", "-", "-"]
        assert lines[-1].startswith("macro-F1 0.333 (95 % interval ")
        assert lines[-1].endswith("over 2 strategies; kappa between the two people 1.00")

    def test_of_a_simulated_assistant_says_so(self, check):
        kind = type(check.assistant).objects.filter(pk=check.assistant_id)
        kind.update(name="Simulated strategist", is_simulated=True)
        for name in ("ada", "ben"):
            label(check, make_person(name), [KEYS[0]], [KEYS[0]])

        said = strategies("score", "--dataset", "talks")

        assert "Simulated strategist (simulated: these scores mean nothing)" in said

    def test_waits_for_people(self, check):
        ada, ben = make_person("ada"), make_person("ben")
        label(check, ada, [KEYS[0]], [KEYS[0]])
        assert "2 labellings of 2 texts are missing" in refused("score", "--dataset", "talks")

        label(check, ben, [KEYS[1]], [KEYS[0]])
        assert "1 texts are to be settled first" in refused("score", "--dataset", "talks")

    def test_needs_a_sample(self, dataset):
        assert "`strategies sample` draws one" in refused("score", "--dataset", "talks")
