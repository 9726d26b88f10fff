"""The console's page on quality checks: how each fares, turning one off, marking another."""

import pytest
from django.test import Client
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import Expected, Protocol
from annotation.models import DimensionMark, QualityCheck
from annotation.quality import console
from annotation.quality.services import gold
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import make_planted_study, make_rated_alone
from tests.helpers.pages import assert_turned_away

pytestmark = pytest.mark.django_db

N_PLANTED = 29


@pytest.fixture
def staff():
    client = Client()
    client.force_login(make_member("ada"))
    return client


def url(study, name="checks", *args):
    return reverse(f"console:{name}", args=[study.slug, *args])


def page(client, study, key=""):
    answer = client.get(url(study), {"key": key} if key else {}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def answer_check(check, *, verdict=1, **fields):
    """Let a new rater answer a check, as the service stores it."""
    lease = make_lease(
        comparison=check.comparison,
        rater=make_rater(study=check.comparison.study),
        quality_check=check,
        closed_at=NOW,
        outcome="SUBMITTED",
    )
    return make_judgment(
        comparison=check.comparison, rater=lease.rater, lease=lease, verdict=verdict, **fields
    )


def row_of(study, check):
    return next(row for row in console.check_rows(study) if row.check.pk == check.pk)


def post_mark(client, comparison, **fields):
    data = {"key": comparison.key, "expected": "FIRST", "reason": "Plain to all."} | fields
    return client.post(url(comparison.study, "mark_gold"), data, follow=True)


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    ("name", "args"), [("checks", []), ("switch_check", [1]), ("mark_gold", [])]
)
def test_pages_are_for_members_alone(name, args, method):
    answer = getattr(Client(), method)(url(make_planted_study(), name, *args))

    if answer.status_code != 405:
        assert_turned_away(answer)


def test_page_of_an_unknown_study_is_not_found(staff):
    assert staff.get(reverse("console:checks", args=["none"])).status_code == 404


class TestPage:
    def test_shows_each_check_with_its_texts_or_how_they_come_about(self, staff):
        study = make_planted_study()
        assert "There is none yet" in page(staff, study)
        gold.load_gold(study=study, now=NOW)

        shown = page(staff, study)

        assert f"{N_PLANTED} checks" in shown
        assert "Fourteen years of Biscuit on those stairs" in shown
        assert shown.count("Known to be better") == N_PLANTED

    def test_takes_few_queries_for_any_number_of_checks(self, staff, django_assert_max_num_queries):
        study = make_planted_study()
        for _ in range(12):
            pair = make_comparison(study=study, purpose="CHECK")
            answer_check(make_quality_check(comparison=pair))

        # session, user, study; checks, answers; the study's file
        with django_assert_max_num_queries(7):
            staff.get(url(study))


class TestCounts:
    def test_are_of_answers_and_of_those_that_passed(self):
        study = make_planted_study()
        check = make_quality_check(comparison=make_comparison(study=study), expected="SECOND")
        for verdict in (-2, -1, 0, 1):
            answer_check(check, verdict=verdict)
        make_lease(comparison=check.comparison, quality_check=check)

        row = row_of(study, check)

        assert (row.n_shown, row.n_answered, row.n_passed, row.percent) == (5, 4, 2, 50)

    def test_take_a_changed_answer_once_as_it_is_now(self):
        study = make_planted_study()
        check = make_quality_check(comparison=make_comparison(study=study))
        first = answer_check(check, verdict=-1)
        make_judgment(
            comparison=check.comparison,
            rater=first.rater,
            lease=first.lease,
            verdict=1,
            revises=first,
        )

        row = row_of(study, check)

        assert (row.n_answered, row.n_passed) == (1, 1)

    def test_of_a_message_alone_read_its_dimension(self):
        study = make_planted_study(protocol=Protocol.LIKERT)
        check = make_quality_check(
            comparison=make_rated_alone(study), expected=Expected.LOW, dimension="E"
        )
        for on_e in (1, 2, 3):
            judgment = answer_check(check, verdict=None, protocol=Protocol.LIKERT)
            for key, mark in {"H": 5, "E": on_e}.items():
                DimensionMark.objects.create(judgment=judgment, dimension=key, advantage=mark)

        row = row_of(study, check)

        assert (row.n_answered, row.n_passed) == (3, 2)

    def test_point_out_a_check_that_most_fail(self, staff):
        study = make_planted_study()
        check = make_quality_check(comparison=make_comparison(study=study))
        for verdict in (-1, -1, -2, 1):
            answer_check(check, verdict=verdict)
        assert "most fail it" not in page(staff, study)

        answer_check(check, verdict=0)

        assert "most fail it" in page(staff, study)
        assert "Passed by 1 of 5 (20 %)" in page(staff, study)


class TestSwitching:
    def test_turns_a_check_off_with_the_reason_and_who_and_not_without_one(self, staff):
        check = make_quality_check(comparison=make_comparison(study=make_planted_study()))
        study = check.comparison.study

        def turn_off(reason):
            asked = {"is_active": "no", "reason": reason}
            answer = staff.post(url(study, "switch_check", check.pk), asked, follow=True)
            return answer.content.decode()

        assert "Write in a few words why" in turn_off(" ")
        assert QualityCheck.objects.get().is_active
        assert "Done." in turn_off("Both are good.")

        assert not QualityCheck.objects.get().is_active
        entry = LogEntry.objects.get()
        assert entry.by is not None
        assert (entry.by.username, entry.after["reason"]) == ("ada", "Both are good.")
        assert "Turn it on again" in page(staff, study)

    def test_of_another_studys_check_is_not_found_nor_a_mark_of_an_unknown_key(self, staff):
        check, study = make_quality_check(), make_planted_study()
        turned_off = {"is_active": "no", "reason": "x"}

        answer = staff.post(url(study, "switch_check", check.pk), turned_off)
        marked = staff.post(url(study, "mark_gold"), {"key": "none"})

        assert (answer.status_code, marked.status_code) == (404, 404)
        assert QualityCheck.objects.get().is_active
        assert "No comparison of this study has that key" in page(staff, study, "none")


class TestMarking:
    def test_shows_a_pair_without_its_systems_and_stores_what_is_known_and_why(self, staff):
        pair = make_comparison(study=make_planted_study())
        shown = page(staff, pair.study, pair.key)
        assert pair.first.text in shown
        assert "The first is better" in shown
        assert pair.first.system.name not in shown

        answer = post_mark(staff, pair, expected="SECOND", dimension="E")

        assert "Marked." in answer.content.decode()
        check = QualityCheck.objects.get()
        assert (check.comparison, check.expected, check.dimension) == (pair, "SECOND", "E")
        assert LogEntry.objects.get().after["reason"] == "Plain to all."

    def test_asks_of_a_message_alone_what_it_deserves(self, staff):
        alone = make_rated_alone()

        shown = page(staff, alone.study, alone.key)

        assert "It deserves a 4 or 5" in shown
        assert "The first is better" not in shown

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"reason": ""}, "Write in a few words why"),
            ({"reason": "x" * 1001}, "longer than 1000"),
            ({"expected": ""}, "Choose what is known"),
            ({"expected": "WRONG"}, "Choose what is known"),
            ({"expected": "HIGH"}, "a pair has a better message"),
        ],
        ids=["no reason", "long reason", "no answer", "unknown answer", "not of a pair"],
    )
    def test_says_what_is_wrong_and_shows_the_pair_again(self, staff, fields, words):
        pair = make_comparison(study=make_planted_study())

        answer = post_mark(staff, pair, **fields)

        assert words in answer.content.decode()
        assert pair.first.text in answer.content.decode()
        assert not QualityCheck.objects.exists()

    def test_offers_no_second_mark_and_refuses_one(self, staff):
        pair = make_comparison(study=make_planted_study())
        post_mark(staff, pair)

        assert "It is a quality check already" in page(staff, pair.study, pair.key)
        assert "is a quality check already." in post_mark(staff, pair).content.decode()
        assert QualityCheck.objects.count() == 1

    def test_offers_nothing_for_an_authored_pair(self, staff):
        pair = make_comparison(study=make_planted_study(), purpose="CHECK")

        assert "Only a comparison that counts" in page(staff, pair.study, pair.key)
