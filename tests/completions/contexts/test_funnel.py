"""What is counted on the way to contexts, what it says can be done next, and its picture."""

import json
from dataclasses import asdict, replace

import pytest
from django.core.management import CommandError, call_command

from completions.choices import CallState, Review, RewriteState
from completions.contexts.funnel import funnel_of
from completions.contexts.funnel_counts import STEPS, FunnelPart, RuleCount, ScreenedCounts, picture
from completions.contexts.screening.rules import DISQUALIFIERS, RULES
from tests.helpers.datasets import CURRENT, make_screened_dataset, make_turns, screen
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_context,
    make_dataset,
    make_dialogue,
    make_rewrite,
    make_screening_call,
)
from tests.helpers.factories_of_calls import DONE

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_screened_dataset()


@pytest.fixture
def count(dataset):
    return lambda: funnel_of(dataset)


def steps(*numbers):
    return dict(zip(STEPS, numbers, strict=True))


class TestFunnel:
    def test_counts_what_was_imported_and_what_screening_made_of_it(self, count):
        funnel = count()

        screened = funnel.screened
        rules = {
            rule.name: (rule.removes, rule.removes_first, rule.removes_alone)
            for rule in screened.rules
        }
        assert funnel.source == {"dialogues": 3, "utterances": 60, "turns": 12, "couplets": 6}
        assert screened == ScreenedCounts(
            candidates=6,
            versions=(CURRENT,),
            outdated=0,
            rules=screened.rules,
            removed=3,
            no_signal=1,
            suitable=2,
            suitable_dialogues=1,
        )
        assert tuple(rules) == DISQUALIFIERS
        assert {name: counts for name, counts in rules.items() if any(counts)} == {
            "self-harm": (1, 1, 0),
            "violence": (3, 2, 1),
            "too-short": (1, 0, 0),
        }

    def test_names_rules_that_only_older_screenings_had(self, count, dataset):
        dialogue = make_dialogue(dataset=dataset, turns=make_turns(1))
        screen(dialogue, ["weather"], rules="screening-0 old")

        screened = count().screened

        assert screened.rules[-1].name == "weather"
        assert screened.versions == ("screening-0 old", CURRENT)
        assert screened.outdated == 1

    def test_compares_emotions_and_cells_before_and_after(self, count):
        funnel = count()

        fear, anger = funnel.emotions
        cells = {(cell.emotion, cell.problem): cell.counts for cell in funnel.cells}
        assert (fear.emotion, fear.problem) == ("fear", None)
        assert fear.counts == steps(2, 4, 2, 2)
        assert fear.shares == steps(0.6667, 0.6667, 1.0, 1.0)
        assert anger.counts == steps(1, 2, 0, 0)
        assert anger.shares == steps(0.3333, 0.3333, 0.0, 0.0)
        assert cells == {
            ("anger", "job"): steps(1, 2, 0, 0),
            ("fear", "exam"): steps(1, 1, 0, 0),
            ("fear", "job"): steps(1, 3, 2, 2),
        }

    def test_counts_reviews_and_as_chosen_what_nobody_dropped(self, count, dataset):
        before = count()
        dataset.contexts.filter(turn_index=0).update(review=Review.DROPPED)
        after = count()

        assert before.chosen == {"contexts": 2, "dialogues": 1}
        assert before.reviews == {"pending": 2, "kept": 0, "dropped": 0}
        assert after.chosen == {"contexts": 1, "dialogues": 1}
        assert after.reviews == {"pending": 1, "kept": 0, "dropped": 1}
        assert after.emotions[0].counts["chosen"] == 1

    def test_leaves_other_datasets_out(self, count):
        before = count()
        other = make_dialogue()
        screen(other, "suitable")
        make_rewrite(source_context=make_context(dialogue=other))
        make_screening_call()

        assert count() == before

    def test_takes_five_queries(self, count, django_assert_num_queries):
        with django_assert_num_queries(5):
            count()


class TestRewriting:
    def test_counts_how_rewrites_ended_by_profile_and_reason(self, count, dataset, make_hostile):
        source = dataset.contexts.first()
        hostile = make_hostile(source)
        accepted = {"state": RewriteState.ACCEPTED, "ended_at": NOW, "context": hostile}
        dropped = {"state": RewriteState.DROPPED, "ended_at": NOW, "reason": "too mild"}
        make_rewrite(source_context=source, profile="ALWAYS_10", **accepted)
        make_rewrite(source_context=source, profile="LINEAR_RAMP", **dropped)
        make_rewrite(source_context=source, profile="MID_RAMP", **dropped)
        make_rewrite(source_context=source, profile="MID_SPIKE", state=RewriteState.PLANNED)

        funnel = count()

        assert funnel.chosen["contexts"] == 2  # the regular ones
        rewriting = funnel.rewriting
        assert (rewriting.planned, rewriting.under_way) == (4, 1)
        assert (rewriting.accepted, rewriting.dropped) == (1, 2)
        assert [(one.reason, one.n) for one in rewriting.reasons] == [("too mild", 2)]
        assert (rewriting.contexts, rewriting.simulated_contexts) == (1, 1)
        assert {one.profile: (one.accepted, one.dropped) for one in rewriting.profiles} == {
            "ALWAYS_10": (1, 0),
            "LINEAR_RAMP": (0, 1),
            "MID_SPIKE": (0, 0),
            "MID_RAMP": (0, 1),
        }


class TestOpinions:
    def test_are_held_against_what_the_rules_say(self, count, dataset):
        suitable, removed = (
            [one for one in dataset.dialogues.first().candidates.all() if one.is_suitable is kept]
            for kept in (True, False)
        )
        keeps, drops = {"qualifies": True}, {"qualifies": False}
        make_screening_call(candidate=suitable[0], opinion=keeps, **DONE)
        make_screening_call(candidate=suitable[0], opinion=drops, **DONE)
        make_screening_call(candidate=removed[0], opinion=drops, **DONE)
        useless = {"ended_at": NOW, "raw_answer": "?", "error_kind": "x"}
        for state in (CallState.INVALID, CallState.FAILED):
            make_screening_call(candidate=suitable[1], state=state, **useless)
        simulated = make_assistant(name="Simulated helper", is_simulated=True)
        make_screening_call(candidate=suitable[1], assistant=simulated)

        opinions = count().opinions

        assert (opinions["asked"], opinions["agreed"], opinions["disagreed"]) == (6, 2, 1)
        assert (opinions["invalid"], opinions["failed"], opinions["waiting"]) == (1, 1, 1)
        assert opinions["by_simulated"] == 1


class TestNextSteps:
    def acts(self, dataset):
        return [step["act"] for step in funnel_of(dataset).next_steps]

    def test_begin_with_the_import_and_end_when_everything_is_done(self, dataset):
        assert self.acts(make_dataset(slug="new")) == ["import"]
        assert self.acts(dataset) == ["rewrite", "review"]

        dataset.contexts.update(review=Review.KEPT)
        make_rewrite(source_context=dataset.contexts.first())
        assert self.acts(dataset) == []

    @pytest.mark.parametrize(
        ("n_screened", "rules"),
        [(0, CURRENT), (1, CURRENT), (2, "screening-0 old"), (2, CURRENT)],
        ids=["nothing screened", "one left", "by older rules", "all screened"],
    )
    def test_screen_and_choose_while_there_are_no_contexts(self, n_screened, rules):
        dialogue = make_dialogue(dataset=make_dataset(slug="new"), turns=make_turns(2))
        screen(dialogue, *["suitable"] * n_screened, rules=rules)

        assert self.acts(dialogue.dataset) == ["build"]


class TestFunnelCommand:
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
        dataset.contexts.update(review=Review.KEPT)
        end = {"state": RewriteState.DROPPED, "reason": "too mild", "ended_at": NOW}
        for profile in ("ALWAYS_10", "MID_RAMP"):
            make_rewrite(source_context=dataset.contexts.first(), profile=profile, **end)
        make_screening_call(candidate=dataset.dialogues.first().candidates.first())

        said = self.run(capsys)

        rows = [line.split() for line in said.splitlines()]
        assert ["ALWAYS_10", "1", "0", "0", "1"] in rows
        assert ["1", "0", "0", "0", "0", "1"] in rows
        assert "dropped 2: too mild" in said
        assert "Next" not in said

    def test_prints_the_same_json_each_time(self, capsys, dataset):
        first, second = (self.run(capsys, "--json") for _ in range(2))

        assert first == second
        assert json.loads(first) == json.loads(json.dumps(asdict(funnel_of(dataset))))
        assert list(json.loads(first)) == sorted(json.loads(first))

    def test_works_before_anything_is_screened_but_not_without_a_dataset(self, capsys):
        make_dataset(slug="new")

        assert "manage.py contexts import FILE --dataset new" in self.run(capsys, dataset="new")
        with pytest.raises(CommandError, match="there is no dataset"):
            self.run(capsys, dataset="nowhere")


def part(emotion, problem, before, after):
    return FunnelPart(emotion, problem, steps(0, 0, 0, 0), steps(before, 0.25, 0.5, after))


class TestPicture:
    @pytest.fixture
    def empty(self):
        """Return the counts of a dataset in which there is nothing."""
        return funnel_of(make_dataset(slug="new"))

    def test_begins_each_bar_where_the_one_above_it_ends(self, empty):
        removed = {"self-harm": 10, "weather": 20, "violence": 40, "hate": 0}
        rules = tuple(
            RuleCount(name, removes=n, removes_first=n, removes_alone=0)
            for name, n in removed.items()
        )
        screened = replace(
            empty.screened, candidates=200, rules=rules, removed=70, no_signal=30, suitable=100
        )

        shown = picture(replace(empty, screened=screened, chosen={"contexts": 20, "dialogues": 20}))

        assert shown["everything"] == (0, 100)
        assert [(count.name, bar) for count, _, bar in shown["rules"]] == [
            ("self-harm", (95, 5)),
            ("weather", (85, 10)),
            ("violence", (65, 20)),
        ]
        assert shown["no_signal"] == (50, 15)
        assert shown["suitable"] == (0, 50)
        assert shown["chosen"] == (0, 10)
        known = {rule.name: rule.explanation for rule in RULES}
        explained = [explanation for _, explanation, _ in shown["rules"]]
        assert explained == [known["self-harm"], "", known["violence"]]

    def test_is_empty_before_there_is_anything(self, empty):
        shown = picture(replace(empty, cells=(part("fear", "job", 0, 0),)))

        ((_, before, after),) = shown["cells"]
        bars = {shown["everything"], shown["suitable"], shown["chosen"], before, after}
        assert bars == {(0, 0)}

    def test_has_parts_on_the_scale_of_the_widest_with_percentages_of_every_step(self, empty):
        parts = (part("fear", None, 0.5, 0.4), part("anger", None, 0.1, 0.8))

        fear, anger = picture(replace(empty, emotions=parts))["emotions"]

        assert fear[1:] == ((0, 62.5), (0, 50))
        assert anger[1:] == ((0, 12.5), (0, 100))
        assert fear[0].percent == steps(50, 25, 50, 40)


@pytest.mark.parametrize(
    ("emotion", "problem", "asked"),
    [
        ("fear", None, ("fear", "")),
        ("fear", "job", ("fear", "job")),
        ("", "", ("-", "-")),
        ("", None, ("-", "")),
    ],
)
def test_a_part_names_its_labels_as_an_address_does(emotion, problem, asked):
    assert part(emotion, problem, 0, 0).asked == asked
