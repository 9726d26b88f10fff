"""The console's pages on quality checks and on reports: what is shown, and what admins decide."""

import pytest
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import Expected, Protocol, ReportKind
from annotation.models import Comparison, QualityCheck, ReportAlert, ReportDecision
from annotation.quality import console
from annotation.quality.services import gold
from tests.helpers.factories import (
    HOUR,
    NOW,
    TURNS,
    make_comparison,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
)
from tests.helpers.factories_written_once import make_mark
from tests.helpers.judged import (
    delete_text,
    lease_next,
    make_planted_study,
    make_rated_alone,
    report,
)
from tests.helpers.released import answer

pytestmark = pytest.mark.django_db

N_PLANTED = 29


@pytest.fixture
def study():
    return make_planted_study(title="Study of kind words")


def url(study, name, *args):
    return reverse(f"console:{name}", args=[study.slug, *args])


def page(client, study, name="checks", **asked):
    answer = client.get(url(study, name), asked, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def answer_check(check, *, verdict=1):
    """Let a new rater answer a check."""
    rater = make_rater(study=check.comparison.study)
    return answer(check.comparison, rater, verdict, quality_check=check)


def row_of(study, check):
    return next(row for row in console.check_rows(study) if row.check.pk == check.pk)


def post_mark(client, comparison, **fields):
    data = {"key": comparison.key, "expected": "FIRST", "reason": "Plain to all."} | fields
    return client.post(url(comparison.study, "mark_gold"), data, follow=True)


class TestChecks:
    def test_are_shown_with_their_texts_or_how_they_come_about(self, admin_client, study):
        assert "There is none yet" in page(admin_client, study)
        gold.load_gold(study=study, now=NOW)

        shown = page(admin_client, study)

        assert f"{N_PLANTED} checks" in shown
        assert "Fourteen years of Biscuit on those stairs" in shown
        assert shown.count("Known to be better") == N_PLANTED


class TestCounts:
    def test_are_of_answers_and_of_those_that_passed(self, study):
        check = make_quality_check(comparison=make_comparison(study=study), expected="SECOND")
        for verdict in (-2, -1, 0, 1):
            answer_check(check, verdict=verdict)
        make_lease(comparison=check.comparison, quality_check=check)

        row = row_of(study, check)

        assert (row.n_shown, row.n_answered, row.n_passed, row.percent) == (5, 4, 2, 50)

    def test_take_a_changed_answer_once_as_it_is_now(self, study):
        check = make_quality_check(comparison=make_comparison(study=study))
        first = answer_check(check, verdict=-1)
        make_judgment(revises=first, verdict=1)

        row = row_of(study, check)

        assert (row.n_answered, row.n_passed) == (1, 1)

    def test_of_a_message_alone_read_its_dimension(self):
        study = make_planted_study(protocol=Protocol.LIKERT)
        check = make_quality_check(
            comparison=make_rated_alone(study), expected=Expected.LOW, dimension="E"
        )
        for on_e in (1, 2, 3):
            judgment = answer_check(check, verdict=None)
            for key, mark in {"H": 5, "E": on_e}.items():
                make_mark(judgment=judgment, dimension=key, advantage=mark)

        row = row_of(study, check)

        assert (row.n_answered, row.n_passed) == (3, 2)

    def test_point_out_a_check_that_most_fail(self, admin_client, study):
        check = make_quality_check(comparison=make_comparison(study=study))
        for verdict in (-1, -1, -2, 1):
            answer_check(check, verdict=verdict)
        assert "most fail it" not in page(admin_client, study)

        answer_check(check, verdict=0)

        assert "most fail it" in page(admin_client, study)
        assert "Passed by 1 of 5 (20 %)" in page(admin_client, study)


def test_a_check_is_turned_off_with_the_reason_and_who_and_not_without_one(
    admin_client, admin_user, study
):
    check = make_quality_check(comparison=make_comparison(study=study))

    def turn_off(reason):
        asked = {"is_active": "no", "reason": reason}
        answer = admin_client.post(url(study, "switch_check", check.pk), asked, follow=True)
        return answer.content.decode()

    assert "Write in a few words why" in turn_off(" ")
    assert QualityCheck.objects.get().is_active
    assert "Done." in turn_off("Both are good.")

    assert not QualityCheck.objects.get().is_active
    entry = LogEntry.objects.get()
    assert (entry.by, entry.after["reason"]) == (admin_user, "Both are good.")
    assert "Turn it on again" in page(admin_client, study)


class TestMarking:
    def test_shows_a_pair_without_its_systems_and_stores_what_is_known_and_why(
        self, admin_client, study
    ):
        pair = make_comparison(study=study)
        shown = page(admin_client, study, key=pair.key)
        assert pair.first.text in shown
        assert "The first is better" in shown
        assert pair.first.system.name not in shown

        answer = post_mark(admin_client, pair, expected="SECOND", dimension="E")

        assert "Marked." in answer.content.decode()
        check = QualityCheck.objects.get()
        assert (check.comparison, check.expected, check.dimension) == (pair, "SECOND", "E")
        assert LogEntry.objects.get().after["reason"] == "Plain to all."

    def test_asks_of_a_message_alone_what_it_deserves(self, admin_client):
        alone = make_rated_alone()

        shown = page(admin_client, alone.study, key=alone.key)

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
    def test_says_what_is_wrong_and_shows_the_pair_again(self, admin_client, study, fields, words):
        pair = make_comparison(study=study)

        answer = post_mark(admin_client, pair, **fields)

        assert words in answer.content.decode()
        assert pair.first.text in answer.content.decode()
        assert not QualityCheck.objects.exists()

    def test_is_not_offered_for_a_check_an_authored_pair_or_an_unknown_key(
        self, admin_client, study
    ):
        pair = make_comparison(study=study)
        post_mark(admin_client, pair)
        planted = make_comparison(study=study, purpose="CHECK")

        assert "It is a quality check already" in page(admin_client, study, key=pair.key)
        assert "is a quality check already." in post_mark(admin_client, pair).content.decode()
        assert QualityCheck.objects.count() == 1
        assert "Only a comparison that counts" in page(admin_client, study, key=planted.key)
        unknown = page(admin_client, study, key="none")
        assert "No comparison of this study has that key" in unknown
        assert admin_client.post(url(study, "mark_gold"), {"key": "none"}).status_code == 404

    def test_of_a_deleted_text_is_found_by_the_public_key_alone(self, admin_client, study):
        pair = make_comparison(study=study)
        delete_text(pair.first_id)

        assert f"deleted-{pair.pk}" in page(admin_client, study, key=f"deleted-{pair.pk}")
        assert "No comparison of this study" in page(admin_client, study, key=pair.key)
        assert admin_client.post(url(study, "mark_gold"), {"key": pair.key}).status_code == 404


def make_report(study, text="", kind=ReportKind.CONTENT, now=NOW):
    """Let a new rater report a new dialogue of the study."""
    pair = make_comparison(study=study, slots_left=4, shown_first_as_a=1)
    return report(make_lease(comparison=pair), kind, text, now=now)


def decide(client, study, context, outcome="RELEASED", reason="Read by two of us."):
    posted = {"outcome": outcome, "reason": reason}
    return client.post(url(study, "decide", context.key), posted, follow=True)


class TestReports:
    def test_say_that_there_are_none_and_that_nobody_is_told_by_mail(self, admin_client, study):
        make_report(make_planted_study(), "Elsewhere.")

        shown = page(admin_client, study, "reports")

        assert "nobody has reported anything" in shown
        assert "Elsewhere." not in shown
        assert "E-mail is not set up" in shown

    def test_show_who_said_what_about_which_dialogue_and_messages(self, admin_client, study):
        stored = make_report(study, "It names <my> street.", ReportKind.UPSET)

        shown = page(admin_client, study, "reports")

        assert "It names &lt;my&gt; street." in shown
        assert stored.rater.code in shown
        assert ReportKind.UPSET.label in shown
        assert TURNS[0]["text"] in shown
        assert stored.lease.comparison.first.text in shown

    def test_that_wait_stand_before_those_that_were_decided(self, admin_client, study):
        waiting = make_report(study, "Waiting.")
        decided = make_report(study, "Decided.", now=NOW + HOUR)
        decide(admin_client, study, decided.context)

        shown = page(admin_client, study, "reports")

        assert shown.index(waiting.context.key) < shown.index(decided.context.key)
        assert "1 conversation waits for a decision" in shown

    def test_say_why_the_last_mail_could_not_be_sent(self, admin_client, study, settings):
        settings.HEART_ADMINS = ["one@example.org"]
        make_report(study)
        ReportAlert.objects.update(error="ConnectionError: no route", claimed_at=NOW)

        shown = page(admin_client, study, "reports")

        assert "ConnectionError: no route" in shown
        assert "E-mail is not set up" not in shown

    def test_are_counted_in_the_overview_by_dialogue_until_they_are_decided(
        self, admin_client, study
    ):
        def overview():
            return admin_client.get(reverse("console:overview")).content.decode()

        link = f'<a href="{url(study, "reports")}">Study of kind words</a>'
        first = make_report(study)
        Comparison.objects.update(slots_left=4, shown_first_as_a=1)
        report(make_lease(comparison=first.lease.comparison))
        assert f"{link}: 1 conversation<" in overview()

        second = make_report(study)
        assert f"{link}: 2 conversations" in overview()

        for stored in (first, second):
            decide(admin_client, study, stored.context)
        assert "Reports wait for a decision" not in overview()


class TestDeciding:
    def test_stores_outcome_reason_and_who(self, admin_client, admin_user, study):
        stored = make_report(study)

        answer = decide(admin_client, study, stored.context, "RELEASED", "Seen by us.")

        decision = ReportDecision.objects.get()
        assert (decision.outcome, decision.decided_by) == ("RELEASED", admin_user)
        shown = answer.content.decode()
        assert "Seen by us." in shown
        assert "Nothing waits for a decision" in shown

    def test_shows_whether_a_dialogue_is_held_shown_to_others_or_dropped(self, admin_client, study):
        pair = make_comparison(study=study)
        for lease in [lease_next(make_rater(study=study)) for _ in range(2)]:
            report(lease)
        assert "held for everybody" in page(admin_client, study, "reports")

        released = decide(admin_client, study, pair.context)
        assert "shown to others" in released.content.decode()

        dropped = decide(admin_client, study, pair.context, "DROPPED")
        assert "dropped" in dropped.content.decode()

    @pytest.mark.parametrize(("outcome", "reason"), [("RELEASED", " "), ("", "x"), ("BURNED", "x")])
    def test_without_outcome_or_reason_changes_nothing(self, admin_client, study, outcome, reason):
        stored = make_report(study)

        answer = decide(admin_client, study, stored.context, outcome, reason)

        assert 'class="notice error"' in answer.content.decode()
        assert not ReportDecision.objects.exists()

    def test_of_a_dialogue_that_nobody_reported_is_not_found(self, admin_client, study):
        unreported = make_comparison(study=study).context

        assert decide(admin_client, study, unreported).status_code == 404
