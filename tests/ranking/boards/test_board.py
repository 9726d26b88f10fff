"""What a leaderboard derives from ratings, and how it reads on a terminal."""

import re

import pytest
from django.template.loader import render_to_string

from annotation.models import Study
from completions.models import System
from ranking.boards import Board, PeopleRefusal, as_text
from ranking.models import Fit, HumanRating, Rating
from ranking.models.fits import DimensionShare

ELO = {"elo": 1520.0, "elo_se": 10.0, "elo_low": 1500.0, "elo_high": 1540.0}
RANKS = {"rank": 1, "rank_low": 1, "rank_high": 2}
OUTCOMES = {"n_judgments": 10, "wins": 5, "losses": 3, "ties": 2}


def make_row(name="Ash", kind="MODEL", is_simulated=False, dimensions=(), **fields):
    system = System(slug=name.lower(), name=name, kind=kind, is_simulated=is_simulated)
    row = Rating(system=system, **(ELO | RANKS | OUTCOMES | fields))
    row.dimensions = dimensions
    return row


def make_people_row(kind="AVERAGE", opponents_per_text=2.0):
    detail = {"contexts": 4, "opponents_per_text": opponents_per_text}
    return HumanRating(kind=kind, **ELO, n_judgments=8, n_contexts=4, detail=detail)


def make_board(*rows, **fields):
    fit = Fit(
        study=Study(slug="demo", title="Demo"),
        key="fit-1",
        pool="HUMAN",
        context_set="ALL",
        n_judgments=20,
        n_units=9,
        is_simulated=any(row.system.is_simulated for row in rows),
        diagnostics={"warnings": ["Only 9 source dialogues."]},
    )
    return Board(fit, rows, **fields)


class TestRating:
    @pytest.mark.parametrize(
        ("low", "high", "text"), [(1, 1, "1"), (2, 5, "2\N{EN DASH}5")], ids=["one", "several"]
    )
    def test_writes_the_ranks_that_are_left(self, low, high, text):
        assert make_row(rank_low=low, rank_high=high).rank_text == text

    @pytest.mark.parametrize(
        ("kind", "is_baseline", "is_human"),
        [("MODEL", False, False), ("HUMAN", True, True), ("ORIGINAL", True, False)],
    )
    def test_knows_what_people_wrote_and_counts_a_tie_as_half_a_win(
        self, kind, is_baseline, is_human
    ):
        row = make_row(kind=kind, wins=5, losses=3, ties=2)

        assert (row.is_baseline, row.is_human, row.win_rate) == (is_baseline, is_human, 60.0)


@pytest.mark.parametrize(
    ("kind", "opponents", "is_optimistic", "is_little"),
    [
        ("BEST_CROSS_FITTED", 2.9, False, True),
        ("BEST_CROSS_FITTED", 3.0, False, False),
        ("BEST_CROSS_FITTED", None, False, False),
        ("AVERAGE", 1, False, False),
        ("BEST_PLAIN", 3.0, True, False),
    ],
)
def test_a_row_of_people_knows_what_luck_flatters_and_how_little_there_was_to_choose_by(
    kind, opponents, is_optimistic, is_little
):
    row = make_people_row(kind=kind, opponents_per_text=opponents)

    assert (row.is_optimistic, row.has_little_to_choose_by) == (is_optimistic, is_little)


@pytest.mark.parametrize(
    ("per_cent", "heat"),
    [(0.0, "h0"), (9.99, "h0"), (10.0, "h1"), (55.5, "h5"), (100.0, "h9"), (None, "")],
)
def test_a_share_has_the_shade_of_its_tens(per_cent, heat):
    assert DimensionShare("H", "Human Alignment", per_cent, 4).heat == heat


class TestBoard:
    def test_groups_its_rows_by_tier(self):
        rows = [make_row("Ash", tier=1), make_row("Beech", tier=1), make_row("Cedar", tier=2)]

        tiers = make_board(*rows).tiers

        assert [(number, len(rows)) for number, rows in tiers] == [(1, 2), (2, 1)]

    def test_of_an_older_fit_is_one_group_without_a_tier(self):
        board = make_board(make_row("Ash"), make_row("Beech"))

        assert [number for number, _ in board.tiers] == [None]
        assert not board.has_tiers
        assert not board.has_joint_intervals

    @pytest.mark.parametrize(
        ("errors", "per_cent"),
        [
            ([{"sandwich_se": 9.0}, {"sandwich_se": 10.0}], 95.0),
            ([{}], None),
            ([{"elo_se": 0.0, "sandwich_se": 0.0}], None),
        ],
        ids=["both", "one alone", "nought"],
    )
    def test_says_how_the_two_errors_compare(self, errors, per_cent):
        assert make_board(*(make_row(**one) for one in errors)).sandwich_per_cent == per_cent


class TestAsText:
    def test_has_a_line_per_system_under_its_conditions(self):
        share = DimensionShare("H", "Human Alignment", 66.7, 4)
        none = DimensionShare("E", "Empathic Responsiveness", None, 0)
        rows = [make_row("Ash", dimensions=(share, none)), make_row("Beech", rank=2)]

        lines = as_text(make_board(*rows)).replace("\N{EN DASH}", "-").splitlines()

        assert lines[0] == "Demo (demo): People, all contexts"
        assert "20 judgments on 9 source dialogues" in lines[1]
        assert "certify no safety" in lines[2]
        assert lines[4].split()[-2:] == ["H", "E"]
        assert lines[5].split() == ["1-2", "Ash", "1520", "1500", "to", "1540", "60.0", "67", "-"]
        assert lines[-1] == "Only 9 source dialogues."

    def test_says_what_each_row_is(self):
        rows = [
            make_row("Simulated Ash", is_simulated=True),
            make_row("Average Human", kind="HUMAN"),
            make_row("Original dataset", kind="ORIGINAL"),
        ]

        text = as_text(make_board(*rows))

        assert "Some systems, judges or dialogues are simulated" in text
        assert "  Simulated Ash  " in text  # the database sees to the word in the name
        assert "Average Human (people)" in text
        assert "Original dataset (original)" in text

    def test_sets_people_apart_from_the_systems(self):
        board = make_board(
            make_row(),
            people=(make_people_row(), make_people_row(kind="BEST_PLAIN")),
            people_refused=(PeopleRefusal("BEST_CROSS_FITTED", "Best Human", "One alone."),),
        )

        lines = as_text(board).splitlines()

        start = lines.index("Made from people, no systems of their own:")
        assert lines[start + 1] == "  Average Human: 1520 (1500 to 1540)"
        assert lines[start + 2].endswith("too high: chosen and scored by the same judgments")
        assert lines[start + 3] == "  Best Human: One alone."

    def test_says_why_there_are_no_ratings(self):
        board = make_board(refusal="No scale.", components=(("Ash", "Beech"), ("Cedar",)))

        assert as_text(board).splitlines()[-4:-1] == ["No scale.", "  Ash, Beech", "  Cedar"]


def verdict(rows):
    """Return what a page says in a sentence above the table."""
    page = render_to_string("ranking/_verdict.html", {"board": make_board(*rows)})
    return re.sub(r"<[^>]+>", "", page).strip()


ANY_RANK = ((1, 2),) * 6


@pytest.mark.parametrize(
    ("tiers", "ranks", "said"),
    [
        ((1, 1, 1), ANY_RANK, "A, B and C cannot be told apart."),
        ((1, 1, 2), ANY_RANK, "A and B cannot be told apart; C is clearly behind."),
        ((1, 1, 2, 3), ANY_RANK, "A and B cannot be told apart; C and D are clearly behind."),
        ((1, 2, 2), ANY_RANK, "A is clearly ahead of B and C."),
        ((1, 2), ANY_RANK, "A is clearly ahead of B."),
        ((1,) * 5 + (2,), ANY_RANK, "A and 4 others cannot be told apart; F is clearly behind."),
        ((1,), ANY_RANK, ""),
        ((None, None), ANY_RANK, ""),
        # Ranks tell apart what is in one tier.
        ((1, 1, 1), ((1, 1), (2, 2), (3, 3)), "A is clearly ahead of B and C."),
        ((1, 1, 1), ((1, 1), (2, 3), (2, 3)), "A is clearly ahead of B and C."),
        ((1, 1, 1), ((1, 2), (1, 2), (3, 3)), "A and B cannot be told apart; C is clearly behind."),
        ((1, 1, 1), ((1, 2), (1, 3), (2, 3)), "A, B and C cannot be told apart."),
    ],
)
def test_says_in_a_sentence_what_tiers_and_the_ranks_within_them_set_apart(tiers, ranks, said):
    rows = [
        make_row(name, tier=tier, rank_low=low, rank_high=high)
        for name, tier, (low, high) in zip("ABCDEF", tiers, ranks, strict=False)
    ]

    assert verdict(rows) == said
