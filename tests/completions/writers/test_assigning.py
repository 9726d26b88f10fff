"""Which dialogue a writer is given next."""

from dataclasses import replace

import numpy as np
import pytest

from completions.writers.assigning import (
    ADVERSARIAL,
    REGULAR,
    Stock,
    WriterStatus,
    n_to_come,
    next_offer,
    phase_of,
)

REGULAR_FIRST, ADVERSARIAL_FIRST = (REGULAR, ADVERSARIAL), (ADVERSARIAL, REGULAR)
MOST = 25


def status(
    *, regular=0, adversarial=0, dialogues=(280, 20), given_up=(0, 0), was_adversarial=False
):
    """A writer who sent so many of each stratum, before dialogues that lack three messages each."""
    stock, hostile = (
        Stock(dialogues=n, slots=3 * n, kept=kept, given_up=dropped)
        for n, kept, dropped in zip(dialogues, (regular, adversarial), given_up, strict=True)
    )
    return WriterStatus(stock, hostile, was_adversarial)


class TestTheBound:
    @pytest.mark.parametrize(
        ("regular", "adversarial", "skipped", "has_room"),
        [
            (0, 0, (0, 0), False),
            (2, 0, (0, 0), False),
            (3, 0, (0, 0), True),
            (5, 1, (0, 0), False),
            (6, 1, (0, 0), True),
            (5, 0, (0, 1), False),  # an adversarial dialogue that was skipped uses it up
            (2, 0, (40, 0), False),  # skipping anything else does not move it
        ],
    )
    def test_lets_one_in_four_dialogues_be_adversarial(
        self, regular, adversarial, skipped, has_room
    ):
        writer = status(regular=regular, adversarial=adversarial, given_up=skipped)

        strata = next_offer(writer, most=MOST).strata

        assert REGULAR in strata
        assert (ADVERSARIAL in strata) == has_room

    @pytest.mark.parametrize(
        ("regular", "adversarial", "most", "strata"),
        [(90, 0, 0, ()), (3, 1, MOST, ()), (0, 0, 100, (ADVERSARIAL,))],
        ids=["none at all", "reached", "no bound"],
    )
    def test_holds_when_only_adversarial_dialogues_are_left(
        self, regular, adversarial, most, strata
    ):
        writer = status(regular=regular, adversarial=adversarial, dialogues=(0, 9))

        assert next_offer(writer, most=most).strata == strata


class TestAnAdversarialDialogue:
    def test_is_due_once_the_writer_falls_behind_the_pool(self):
        due = [next_offer(status(regular=n), most=MOST).strata[0] for n in (3, 13, 14)]

        assert due == [REGULAR, REGULAR, ADVERSARIAL]  # one dialogue in fifteen is adversarial

    def test_is_due_sooner_where_the_pool_lacks_more_of_them(self):
        behind = status(regular=4, dialogues=(40, 10))

        assert next_offer(behind, most=MOST).strata == ADVERSARIAL_FIRST

    def test_comes_to_each_writer_at_a_place_of_their_own(self):
        early = next_offer(status(regular=7), most=MOST, phase=0.5)
        late = next_offer(status(regular=7), most=MOST, phase=0.4)

        assert (early.strata, late.strata) == (ADVERSARIAL_FIRST, REGULAR_FIRST)

    def test_never_follows_another_while_there_is_anything_else(self):
        after_one = status(regular=60, adversarial=1, was_adversarial=True)

        offer = next_offer(after_one, most=MOST)

        assert offer.strata == REGULAR_FIRST
        assert not offer.is_even

    def test_goes_before_a_regular_one_that_is_less_empty_even_when_it_is_not_due(self):
        offer = next_offer(status(regular=4), most=MOST)

        assert offer.strata == REGULAR_FIRST
        assert offer.is_even


class TestWhatIsToCome:
    @pytest.mark.parametrize(
        ("given", "most", "n"),
        [
            ({"regular": 3, "dialogues": (4, 20)}, MOST, 4 + 2),
            ({"regular": 3, "adversarial": 1, "dialogues": (4, 20)}, MOST, 4 + 1),
            ({"dialogues": (4, 20)}, 100, 24),
            ({"regular": 3, "adversarial": 1, "dialogues": (0, 20)}, MOST, 0),
            ({"regular": 3, "given_up": (0, 4), "dialogues": (0, 20)}, MOST, 0),
        ],
    )
    def test_is_every_regular_dialogue_and_as_many_others_as_the_bound_will_allow(
        self, given, most, n
    ):
        assert n_to_come(status(**given), most=most) == n

    @pytest.mark.parametrize("most", [0, 1, 7, 25, 33, 50, 99, 100])
    def test_is_what_a_writer_who_takes_everything_gets(self, most):
        state = status(regular=2, adversarial=0, dialogues=(23, 19), given_up=(1, 2))
        promised = n_to_come(state, most=most)

        given = 0
        while strata := next_offer(state, most=most).strata:
            state = taken(state, strata[0])
            given += 1

        assert given == promised


def taken(state, stratum):
    """The standing after one more dialogue of the stratum was sent."""
    name = stratum.lower()
    stock = getattr(state, name)
    fewer = replace(
        stock, dialogues=stock.dialogues - 1, slots=stock.slots - 3, kept=stock.kept + 1
    )
    return replace(state, **{name: fewer, "was_adversarial": stratum == ADVERSARIAL})


def test_phases_follow_from_codes_and_are_spread():
    phases = [phase_of(f"W{n}") for n in range(200)]

    assert phases[1:3] == pytest.approx([0.977187, 0.196078], abs=1e-6)
    assert all(0 <= phase < 1 for phase in phases)
    assert {int(phase * 10) for phase in phases} == set(range(10))


N_WRITERS = 12


class Pool:
    """Twelve writers who take, send and skip dialogues in a random order, by `next_offer`."""

    def __init__(self, seed):
        self.chance = np.random.default_rng(seed)
        self.is_hostile = self.chance.permutation([0] * 280 + [1] * 20)
        self.left = np.full(len(self.is_hostile), 3)
        self.had = np.zeros((N_WRITERS, len(self.is_hostile)), bool)
        self.kept = np.zeros((N_WRITERS, 2), int)
        self.given_up = np.zeros((N_WRITERS, 2), int)
        self.given: list[list[int]] = [[] for _ in range(N_WRITERS)]
        self.spreads = []

    def run(self, *, skips):
        """Act until every writer in turn finds nothing."""
        held: dict[int, int] = {}
        idle: set[int] = set()
        while len(idle) < N_WRITERS:
            writer = int(self.chance.integers(N_WRITERS))
            if writer in held:
                if self.chance.random() < skips:
                    self.skip(writer, held[writer])
                    idle.clear()
                del held[writer]
            elif (dialogue := self.next_dialogue(writer)) is None:
                idle.add(writer)
            else:
                held[writer] = dialogue
        return self

    def next_dialogue(self, writer):
        free = (self.left > 0) & ~self.had[writer]
        given = self.given[writer]
        now = WriterStatus(
            self.stock(writer, free, 0),
            self.stock(writer, free, 1),
            bool(given) and bool(self.is_hostile[given[-1]]),
        )
        offer = next_offer(now, most=MOST, phase=phase_of(f"W{writer}"))
        assert bool(offer.strata) == (n_to_come(now, most=MOST) > 0)
        dialogue = self.first_of(offer, free)
        if dialogue is None:
            return None
        self.left[dialogue] -= 1
        self.had[writer, dialogue] = True
        self.kept[writer, self.is_hostile[dialogue]] += 1
        given.append(dialogue)
        self.spreads.append(int(self.left.max() - self.left.min()))
        return dialogue

    def stock(self, writer, free, hostile):
        of = free & (self.is_hostile == hostile)
        return Stock(
            dialogues=int(of.sum()),
            slots=int(self.left[of].sum()),
            kept=int(self.kept[writer, hostile]),
            given_up=int(self.given_up[writer, hostile]),
        )

    def first_of(self, offer, free):
        """Return the emptiest dialogue of the first stratum, or of any if strata are to be even."""
        groups = [
            np.flatnonzero(free & (self.is_hostile == (one == ADVERSARIAL))) for one in offer.strata
        ]
        emptiest = [int(group[self.left[group].argmax()]) for group in groups if group.size]
        if offer.is_even:
            return max(emptiest, key=lambda one: self.left[one], default=None)
        return next(iter(emptiest), None)

    def skip(self, writer, dialogue):
        hostile = self.is_hostile[dialogue]
        self.kept[writer, hostile] -= 1
        self.given_up[writer, hostile] += 1
        self.left[dialogue] += 1


@pytest.fixture(scope="module")
def pool():
    """Twelve writers, 280 regular and 20 adversarial dialogues, one dialogue in twenty skipped."""
    return Pool(seed=5).run(skips=0.05)


class TestTwelveWriters:
    def test_write_three_messages_for_every_dialogue(self, pool):
        assert pool.kept.sum() == 900
        assert not pool.left.any()

    def test_fill_all_dialogues_evenly(self, pool):
        # A dialogue that was skipped just when the others moved on is one behind until it is given.
        uneven = [spread for spread in pool.spreads[:-50] if spread > 1]

        assert len(uneven) <= 5
        assert max(pool.spreads) == 2

    def test_fill_all_dialogues_within_one_when_nobody_skips(self):
        even = Pool(seed=6).run(skips=0)

        assert max(even.spreads[:-12]) == 1
        assert even.kept.sum() == 900

    def test_all_get_their_share_of_adversarial_dialogues(self, pool):
        shares = pool.kept[:, 1] / pool.kept.sum(axis=1)

        assert shares.min() > 0.02
        assert shares.max() < 0.12

    def test_are_never_above_the_bound_nor_given_two_adversarial_dialogues_in_a_row(self, pool):
        for dialogues in pool.given:
            hostile = pool.is_hostile[dialogues]
            assert not (hostile[:-1] & hostile[1:]).any()
            assert (100 * hostile.cumsum() <= MOST * np.arange(1, len(dialogues) + 1)).all()
        assert (100 * pool.kept[:, 1] <= MOST * pool.kept.sum(axis=1)).all()
