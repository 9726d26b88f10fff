"""``contexts funnel``, and what it says can be done next."""

import json
from dataclasses import asdict

import pytest
from django.core.management import CommandError, call_command

from completions.choices import Review, RewriteState
from completions.contexts.funnel import funnel_of
from tests.helpers.datasets import CURRENT, make_screened_dataset, make_turns, screen
from tests.helpers.factories import (
    NOW,
    make_dataset,
    make_dialogue,
    make_rewrite,
    make_screening_call,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_screened_dataset()


class TestNextSteps:
    def acts(self, dataset):
        return [step.act for step in funnel_of(dataset).next_steps]

    def test_begin_with_the_import(self):
        assert self.acts(make_dataset(slug="new")) == ["import"]

    def test_go_on_with_the_screening(self):
        dataset = make_dataset(slug="new")
        make_dialogue(dataset=dataset, turns=make_turns(1))

        assert self.acts(dataset) == ["build"]

    @pytest.mark.parametrize(("n", "rules"), [(1, CURRENT), (2, "screening-0 old")])
    def test_screen_again_what_the_present_rules_have_not_seen(self, n, rules):
        dataset = make_dataset(slug="new")
        dialogue = make_dialogue(dataset=dataset, turns=make_turns(2))
        screen(dialogue, *["suitable"] * n, rules=rules)

        assert self.acts(dataset) == ["build"]

    def test_choose_contexts_once_all_is_screened(self):
        dataset = make_dataset(slug="new")
        screen(make_dialogue(dataset=dataset, turns=make_turns(1)), "suitable")

        assert self.acts(dataset) == ["build"]

    def test_offer_rewrites_and_the_review_of_what_is_chosen(self, dataset):
        assert self.acts(dataset) == ["rewrite", "review"]

    def test_end_when_everything_is_done(self, dataset):
        dataset.contexts.update(review=Review.KEPT)
        make_rewrite(source_context=dataset.contexts.first())

        assert self.acts(dataset) == []


class TestCommand:
    def run(self, capsys, *options, dataset="talks"):
        call_command("contexts", "funnel", "--dataset", dataset, *options)
        return capsys.readouterr().out

    def test_prints_every_count_in_tables(self, capsys, dataset):
        rows = [line.split() for line in self.run(capsys).splitlines()]

        assert ["couplets", "6"] in rows
        assert ["violence", "3", "2", "1"] in rows
        assert ["no", "signal", "1"] in rows
        assert ["fear", "2", "66.7", "4", "66.7", "2", "100.0", "2", "100.0"] in rows
        assert ["not", "reviewed", "yet", "2"] in rows
        assert any("--adversarial" in row for row in rows)

    def test_prints_rewrites_and_opinions_where_there_are_some(self, capsys, dataset):
        assert "profile" not in self.run(capsys)
        make_rewrite(source_context=dataset.contexts.first())
        make_screening_call(candidate=dataset.dialogues.first().candidates.first())

        rows = [line.split() for line in self.run(capsys).splitlines()]

        assert ["ALWAYS_10", "1", "1", "0", "0"] in rows
        assert ["1", "0", "0", "0", "0", "1"] in rows

    def test_prints_why_rewrites_were_dropped(self, capsys, dataset):
        end = {"state": RewriteState.DROPPED, "reason": "too mild", "ended_at": NOW}
        for profile in ("ALWAYS_10", "MID_RAMP"):
            make_rewrite(source_context=dataset.contexts.first(), profile=profile, **end)

        assert "dropped 2: too mild" in self.run(capsys)

    def test_prints_nothing_to_do_when_everything_is_done(self, capsys, dataset):
        dataset.contexts.update(review=Review.KEPT)
        make_rewrite(source_context=dataset.contexts.first())

        assert "Next" not in self.run(capsys)

    def test_prints_the_same_json_each_time(self, capsys, dataset):
        first, second = (self.run(capsys, "--json") for _ in range(2))

        assert first == second
        assert json.loads(first) == json.loads(json.dumps(asdict(funnel_of(dataset))))
        assert list(json.loads(first)) == sorted(json.loads(first))

    def test_works_before_anything_is_screened(self, capsys):
        make_dataset(slug="new")

        assert "manage.py contexts import FILE --dataset new" in self.run(capsys, dataset="new")

    def test_refuses_a_dataset_that_is_not_there(self, capsys):
        with pytest.raises(CommandError, match="there is no dataset"):
            self.run(capsys, dataset="nowhere")
