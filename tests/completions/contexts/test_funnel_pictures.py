"""The bars of a funnel add up, and share one scale."""

import pytest

from completions.contexts import screening
from completions.contexts.funnel import (
    Chosen,
    Funnel,
    FunnelPart,
    ImportedCounts,
    Opinions,
    Reviews,
    Rewriting,
    RuleCount,
    ScreenedCounts,
    Steps,
)
from completions.contexts.funnel.picture import Bar, Picture


def rule(name, first):
    return RuleCount(name, removes=first + 1, removes_first=first, removes_alone=0)


def part(emotion, problem, before, after):
    return FunnelPart(emotion, problem, Steps(0, 0, 0, 0), Steps(before, 0.25, 0.5, after))


def funnel(*, candidates=0, rules=(), no_signal=0, suitable=0, chosen=0, emotions=(), cells=()):
    return Funnel(
        dataset="talks",
        source=ImportedCounts(1, 1, 1, candidates),
        screened=ScreenedCounts(
            candidates=candidates,
            versions=(),
            outdated=0,
            rules=tuple(rules),
            removed=sum(one.removes_first for one in rules),
            no_signal=no_signal,
            suitable=suitable,
            suitable_dialogues=0,
        ),
        chosen=Chosen(chosen, chosen),
        emotions=tuple(emotions),
        cells=tuple(cells),
        rewriting=Rewriting(0, 0, 0, 0, (), (), 0, 0),
        opinions=Opinions(0, 0, 0, 0, 0, 0, 0),
        reviews=Reviews(0, 0, 0),
        next_steps=(),
    )


class TestScreening:
    @pytest.fixture
    def picture(self):
        rules = [rule("self-harm", 10), rule("hate", 0), rule("violence", 40)]
        return Picture.of(
            funnel(candidates=200, rules=rules, no_signal=50, suitable=100, chosen=20)
        )

    def test_begins_each_bar_where_the_one_above_it_ends(self, picture):
        assert picture.everything == Bar(0, 100)
        assert [(line.count.name, line.bar) for line in picture.rules] == [
            ("self-harm", Bar(95, 5)),
            ("hate", Bar(95, 0)),
            ("violence", Bar(75, 20)),
        ]
        assert picture.no_signal == Bar(50, 25)
        assert picture.suitable == Bar(0, 50)
        assert picture.chosen == Bar(0, 10)

    def test_explains_every_rule(self, picture):
        known = {rule.name: rule.explanation for rule in screening.RULES}

        assert [line.explanation for line in picture.rules] == [
            known[line.count.name] for line in picture.rules
        ]

    def test_leaves_out_rules_that_remove_nothing(self):
        idle = RuleCount("hate", 0, 0, 0)

        assert Picture.of(funnel(candidates=1, rules=[idle], suitable=1)).rules == ()

    def test_shows_a_rule_of_former_times_without_explanation(self):
        (line,) = Picture.of(funnel(candidates=4, rules=[rule("weather", 1)])).rules

        assert (line.count.name, line.explanation, line.bar) == ("weather", "", Bar(75, 25))

    def test_is_empty_before_anything_is_screened(self):
        picture = Picture.of(funnel())

        assert picture.everything == picture.suitable == picture.chosen == Bar(0, 0)


class TestParts:
    def test_share_the_scale_of_the_widest(self):
        parts = [part("fear", None, 0.5, 0.4), part("anger", None, 0.1, 0.8)]

        fear, anger = Picture.of(funnel(emotions=parts)).emotions

        assert (fear.before, fear.after) == (Bar(0, 62.5), Bar(0, 50))
        assert (anger.before, anger.after) == (Bar(0, 12.5), Bar(0, 100))

    def test_have_percentages_of_every_step(self):
        (line,) = Picture.of(funnel(cells=[part("fear", "job", 0.5, 0.4)])).cells

        assert line.percent == Steps(50, 25, 50, 40)

    @pytest.mark.parametrize(
        ("emotion", "problem", "asked"),
        [
            ("fear", None, ("fear", "")),
            ("fear", "job", ("fear", "job")),
            ("", "", ("-", "-")),
            ("", None, ("-", "")),
        ],
    )
    def test_name_their_labels_as_an_address_does(self, emotion, problem, asked):
        (line,) = Picture.of(funnel(cells=[part(emotion, problem, 0, 0)])).cells

        assert (line.emotion, line.problem) == asked

    def test_have_no_bars_before_there_are_dialogues(self):
        (line,) = Picture.of(funnel(cells=[part("fear", "job", 0, 0)])).cells

        assert line.before == line.after == Bar(0, 0)
