"""Planted pairs, repeats, the screening round and adaptive plans in what a rater is given."""

import pytest

from annotation.assignment import design, slots
from annotation.choices import (
    CheckKind,
    Expected,
    PlanKind,
    Platform,
    Protocol,
    Purpose,
    RaterStage,
    RaterState,
    Side,
    StudyState,
)
from annotation.judging.services import judging, leasing
from annotation.models import Comparison, Lease, Rater, Study
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering
from annotation.studies.queries import RaterHistory
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome
from tests.helpers.factories import (
    CONTENT,
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import (
    SECOND,
    credential_of,
    lease_next,
    make_comparisons,
    skip,
    submit,
)

pytestmark = pytest.mark.django_db

GOOD, BAD = Answer(2, "The first one listens."), Answer(-2, "The second one listens.")


def make_planting_study(*, n=12, n_checks=6, rate=0.2, repeat_rate=0.0, screening=(0, 0), **fields):
    pairs, passed = screening
    content = CONTENT | {
        "checks": {"rate": rate, "repeat_rate": repeat_rate, "gold_set": "x"},
        "screening": {"pairs": pairs, "min_passed": passed},
    }
    study = make_study(**{"content": content, "session_length": 20} | fields)
    make_comparisons(study, n)
    for _ in range(n_checks):
        plant(study)
    return study


def make_newcomer(**fields):
    """A rater whose study begins with a screening round."""
    return make_rater(study=make_planting_study(**fields), stage=RaterStage.SCREENING)


def plant(study, **fields):
    comparison = make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0)
    return make_quality_check(comparison=comparison, **fields)


def on_screen(answer, lease):
    """Turn an answer about the first completion into what the rater's screen would post."""
    sign = 1 if lease.first_side == Side.A else -1
    return Answer(sign * answer.verdict, answer.rationale)


def walk(rater, answer=GOOD):
    """Answer until nothing more comes; return the leases."""
    leases = []
    while (lease := lease_next(rater)) is not None:
        leases.append(lease)
        submit(lease, on_screen(answer, lease), now=NOW)
    return leases


def stop_and_come_back(lease):
    """Leave a pair, and go on with another submission of the platform."""
    leasing.stop_judging(rater=lease.rater, now=NOW)
    again = Entry(Platform.PROLIFIC, "p-17", {"SESSION_ID": f"x-{lease.number}"})
    entering.come_back(rater=lease.rater, entry=again, now=NOW)


def let_run_out(lease):
    leasing.release_expired_leases(now=lease.expires_at)


class TestPlantedPairs:
    @pytest.mark.parametrize(
        "fields", [{}, {"draw_key": ""}], ids=["by their key", "by the code of who came before"]
    )
    def test_come_at_the_rate_where_the_seed_says_and_take_no_slot(self, fields):
        study = make_planting_study(n=16, rate=0.2)
        rater = make_rater(study=study, **fields)

        leases = walk(rater)

        planted = [lease for lease in leases if lease.quality_check]
        drawn_by = rater.draw_key or rater.code
        expected = [
            number
            for number in range(1, 21)
            if design.is_check_due(design.Place(study.seed, drawn_by, number), rate=0.2)
        ]
        assert len(leases) == 20
        assert [lease.number for lease in planted] == expected
        assert len(planted) == 4
        for lease in planted:
            pair = Comparison.objects.get(pk=lease.comparison_id)
            assert (pair.slots_left, pair.shown_first_as_a, pair.shown_first_as_b) == (0, 0, 0)

    @pytest.mark.parametrize(("n", "n_checks"), [(8, 2), (10, 1)], ids=["enough", "too few"])
    def test_are_each_shown_once_and_give_way_to_real_pairs(self, n, n_checks):
        study = make_planting_study(n=n, n_checks=n_checks, session_length=10)

        leases = walk(make_rater(study=study))

        planted = [lease.comparison_id for lease in leases if lease.quality_check]
        assert len(leases) == 10
        assert len(planted) == len(set(planted)) == n_checks

    def test_that_were_switched_off_or_held_never_come(self):
        study = make_planting_study(n=10, n_checks=0, session_length=10)
        plant(study, is_active=False)
        held = plant(study).comparison
        held.held_at = NOW
        held.save()

        assert not [lease for lease in walk(make_rater(study=study)) if lease.quality_check]

    def test_may_be_main_pairs_that_an_admin_marked(self):
        study = make_planting_study(n=6, n_checks=0, rate=0.5)
        marked = make_comparison(study=study, slots_left=5)
        make_quality_check(comparison=marked)

        leases = walk(make_rater(study=study))

        lease = next(lease for lease in leases if lease.comparison == marked)
        assert lease.quality_check is not None
        marked.refresh_from_db()
        assert marked.slots_left == 5
        assert sum(lease.comparison == marked for lease in leases) == 1

    def test_and_repeats_never_come_to_who_had_to_write_for_their_conversation(self):
        study = make_planting_study(n=3, n_checks=0, rate=0.5, repeat_rate=0.5)
        marked = make_comparison(study=study)
        make_quality_check(comparison=marked)
        writer = make_writer(dataset=study.dataset)
        rater = make_rater(study=study, writer=writer)
        first = lease_next(rater).comparison
        for context in {marked.context, first.context}:
            make_writing_lease(
                writer=writer, context=context, outcome=LeaseOutcome.SUBMITTED, closed_at=NOW
            )

        later = [lease.comparison for lease in walk(rater)][1:]

        assert later
        assert {marked.context, first.context}.isdisjoint(one.context for one in later)


class TestRepeats:
    def test_show_an_earlier_pair_with_the_sides_exchanged_and_take_no_slot(self):
        study = make_planting_study(n=16, n_checks=0, rate=0, repeat_rate=0.2)

        leases = walk(make_rater(study=study))

        repeats = [lease for lease in leases if lease.repeats]
        assert len(repeats) == 4
        for lease in repeats:
            assert lease.comparison == lease.repeats.comparison
            assert {lease.first_side, lease.repeats.first_side} == {Side.A, Side.B}
            assert lease.number - lease.repeats.number >= 4
        assert len({lease.repeats_id for lease in repeats}) == 4
        for pair in Comparison.objects.filter(study=study, judgments__isnull=False):
            assert pair.slots_left == 4
            assert pair.shown_first_as_a + pair.shown_first_as_b == 1

    def test_are_of_pairs_that_were_shown_to_count_alone(self):
        study = make_planting_study(n=8, n_checks=0, rate=0, repeat_rate=1.0, session_length=12)
        check, rater = plant(study), make_rater(study=study)
        planted = make_lease(
            rater=rater,
            comparison=check.comparison,
            quality_check=check,
            number=1,
            outcome=LeaseOutcome.SUBMITTED,
            closed_at=NOW,
        )

        repeated = [lease.repeats for lease in walk(rater) if lease.repeats]

        assert len(repeated) == 4
        assert planted not in repeated
        assert {one.repeats for one in repeated} == {None}


class TestScreening:
    def test_comes_before_the_first_pair_that_counts_and_is_no_part_of_the_session(self):
        rater = make_newcomer(screening=(3, 2), session_length=5)

        leases = walk(rater)

        assert [lease.is_screening for lease in leases] == [True] * 3 + [False] * 5
        rater.refresh_from_db()
        assert rater.stage == RaterStage.JUDGING

    def test_waits_for_the_comprehension_check(self):
        rater = make_rater(study=make_planting_study(), stage=RaterStage.COMPREHENSION)

        with pytest.raises(leasing.NotUnderstoodError):
            lease_next(rater)

    def test_ends_kindly_when_too_many_answers_were_wrong(self):
        rater = make_newcomer(screening=(3, 2))

        leases = walk(rater, BAD)

        rater.refresh_from_db()
        assert len(leases) == 3
        assert (rater.state, rater.ended_at) == (RaterState.SCREENED, NOW)
        with pytest.raises(leasing.RaterEndedError):
            lease_next(rater)

    def test_is_over_where_the_study_has_no_planted_pairs(self):
        rater = make_newcomer(n_checks=0, rate=0, screening=(3, 2))

        assert not lease_next(rater).is_screening

    @pytest.mark.parametrize("leave", [skip, stop_and_come_back, let_run_out])
    def test_is_not_passed_by_leaving_planted_pairs(self, leave):
        rater = make_newcomer(screening=(3, 3))
        while (lease := lease_next(rater)) is not None:
            leave(lease)

        rater.refresh_from_db()
        assert (rater.state, rater.stage) == (RaterState.SCREENED, RaterStage.SCREENING)

    def test_asks_for_nothing_of_pairs_that_are_held_from_everybody(self):
        rater = make_newcomer(n_checks=1, screening=(1, 1))
        lease = lease_next(rater)
        Comparison.objects.filter(pk=lease.comparison_id).update(held_at=NOW)
        stop_and_come_back(lease)

        assert not lease_next(rater).is_screening

    def test_asks_for_fewer_where_the_study_has_fewer_planted_pairs(self):
        rater = make_newcomer(n_checks=2, screening=(3, 3))
        while (lease := lease_next(rater)).is_screening:
            submit(lease, on_screen(GOOD, lease), now=NOW + SECOND)

        rater.refresh_from_db()
        assert (rater.stage, rater.state) == (RaterStage.JUDGING, RaterState.ACTIVE)

    def test_judges_a_rating_by_its_dimension(self):
        rater = make_newcomer(n_checks=0, screening=(1, 1), protocol=Protocol.LIKERT)
        alone = make_alone(study=rater.study, purpose=Purpose.CHECK, slots_left=0)
        make_quality_check(
            comparison=alone, kind=CheckKind.GOLD, expected=Expected.LOW, dimension="E"
        )
        lease = lease_next(rater)

        submit(lease, Answer(None, "", dict.fromkeys("HEART", 5)), now=NOW)
        lease_next(rater)

        rater.refresh_from_db()
        assert rater.state == RaterState.SCREENED


def foresee(lease, *, rater=None, now=NOW + SECOND):
    credential = credential_of(rater or lease.rater)
    return judging.foresee_next(credential=credential, token=lease.token, now=now)


class TestForeseeing:
    """What would follow an answer, before there is one."""

    @pytest.mark.parametrize("plan", PlanKind)
    def test_says_what_is_then_assigned_and_stores_nothing(self, plan):
        study = make_planting_study(n=9, rate=0.3, repeat_rate=0.3, session_length=12, plan=plan)
        lease = lease_next(make_rater(study=study))
        kinds = set()

        while lease is not None:
            before = stored()
            ahead = foresee(lease)
            assert stored() == before
            submit(lease, now=NOW + SECOND)
            lease = lease_next(lease.rater, now=NOW + SECOND)
            assert drawn(ahead) == drawn(lease)
            if lease is not None:
                kinds.add((lease.quality_check is not None, lease.repeats is not None))

        assert len(kinds) == 3, "pairs that count, planted ones and repeats"

    def test_hangs_on_the_answer_in_the_screening_round(self):
        lease = lease_next(make_newcomer(screening=(3, 2)))

        assert foresee(lease) is None
        with pytest.raises(slots.LeaseNotFoundError):  # it is for whoever holds the lease alone
            foresee(lease, rater=make_rater(study=lease.rater.study))

    @pytest.mark.parametrize(
        "happens",
        [
            lambda lease: submit(lease, now=NOW),
            skip,
            lambda _: Study.objects.update(state=StudyState.PAUSED),
            lambda _: Rater.objects.update(state=RaterState.STOPPED, ended_at=NOW),
            lambda lease: make_exclusion(rater=lease.rater),
        ],
        ids=["answered", "skipped", "paused", "stopped", "excluded"],
    )
    def test_is_nothing_where_nothing_would_follow(self, happens):
        lease = lease_next(make_rater(study=make_planting_study(rate=0)))
        happens(lease)

        assert foresee(lease) is None


def stored():
    return list(Comparison.objects.order_by("pk").values()), list(Lease.objects.values())


def drawn(lease):
    """Return all that was drawn for a lease."""
    names = (
        *("comparison_id", "first_side", "quality_check_id", "repeats_id", "is_screening"),
        *("number", "rater_first_as_a", "rater_first_as_b", "pair_first_as_a", "pair_first_as_b"),
        *("sampling_probability", "recent_ms"),
    )
    return lease and tuple(getattr(lease, name) for name in names)


class TestTimes:
    def test_each_lease_carries_the_times_in_view_of_the_answers_before(self):
        rater = make_rater(study=make_planting_study(rate=0))
        for n, seconds in enumerate((30, 44_000)):
            at = NOW + n * 48 * HOUR
            submit(lease_next(rater, at), GOOD, now=at + seconds * SECOND)

        assert lease_next(rater, NOW + 99 * HOUR).recent_ms == [30_000, 600_000]

    def test_one_long_absence_does_not_change_the_time_left(self):
        history = RaterHistory(first_as_a=4, recent_ms=(31_000, 40_000, 600_000, 35_000))

        assert history.seconds_per_pair == 37.5


class TestSides:
    def test_can_be_drawn_again_from_what_each_lease_stores(self):
        study = make_planting_study(n=8, rate=0.2, repeat_rate=0.1)
        for _ in range(4):
            walk(make_rater(study=study))

        for lease in Lease.objects.select_related("comparison", "rater", "repeats"):
            shown = (lease.rater_first_as_a, lease.rater_first_as_b)
            if lease.repeats:
                is_a = lease.repeats.first_side == Side.B
            elif lease.quality_check_id:
                is_a = design.planted_first_goes_to_a(
                    seed=study.seed,
                    pair=lease.comparison.key,
                    rater=lease.rater.drawn_by,
                    rater_shown=shown,
                )
            else:
                is_a = design.first_goes_to_a(
                    seed=study.seed,
                    pair=lease.comparison.key,
                    shown=(lease.pair_first_as_a, lease.pair_first_as_b),
                    rater_shown=shown,
                )
            assert (lease.first_side == Side.A) == is_a


class TestAdaptivePlans:
    def test_store_the_probability_with_which_each_pair_was_drawn(self):
        study = make_planting_study(n=4, rate=0, plan=PlanKind.ADAPTIVE)
        first = Comparison.objects.earliest("pk")
        Comparison.objects.filter(pk=first.pk).update(weight=7.0)

        leases = [lease_next(make_rater(study=study)) for _ in range(5)]

        by_weight = {True: 7 / 10, False: 1 / 10}
        probability = by_weight[leases[0].comparison == first]
        assert leases[0].sampling_probability == pytest.approx(probability)
        assert all(0 < lease.sampling_probability <= 1 for lease in leases)
        balanced = lease_next(make_rater(study=make_planting_study(rate=0)))
        assert balanced.sampling_probability is None

    def test_fill_every_slot_all_the_same(self):
        study = make_planting_study(n=4, rate=0, plan=PlanKind.ADAPTIVE)

        assert len(walk(make_rater(study=study))) == 4

    def test_prefer_what_has_more_weight(self):
        study = make_planting_study(n=4, rate=0, plan=PlanKind.ADAPTIVE)
        heavy = Comparison.objects.earliest("pk")
        Comparison.objects.filter(pk=heavy.pk).update(weight=1000.0, slots_left=60)

        drawn = [lease_next(make_rater(study=study)).comparison for _ in range(20)]

        assert drawn.count(heavy) > 15
