"""The console's page on reports: what waits, what was said, what is decided."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import ReportKind, ReportOutcome
from annotation.models import Comparison, ReportAlert, ReportDecision
from tests.helpers.factories import HOUR, NOW, TURNS, make_comparison, make_lease, make_rater
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import lease_next, make_planted_study, report
from tests.helpers.pages import assert_turned_away

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    client = Client()
    client.force_login(make_member("ada"))
    return client


@pytest.fixture
def study():
    return make_planted_study(title="Study of kind words")


def url(study, name="reports", *args):
    return reverse(f"console:{name}", args=[study.slug, *args])


def page(client, study):
    return client.get(url(study)).content.decode()


def overview(client):
    """Return where staff land, and see without mail that something waits."""
    return client.get(reverse("console:overview")).content.decode()


def make_report(study, text="", kind=ReportKind.CONTENT, now=NOW):
    """Let a new rater report a new dialogue of the study."""
    pair = make_comparison(study=study, slots_left=4, shown_first_as_a=1)
    return report(make_lease(comparison=pair), kind, text, now=now)


def decide(client, study, context, outcome="RELEASED", reason="Read by two of us."):
    return client.post(
        url(study, "decide", context.key), {"outcome": outcome, "reason": reason}, follow=True
    )


def test_others_see_and_decide_nothing(study):
    stored = make_report(study)

    assert_turned_away(Client().get(url(study)))
    address = url(study, "decide", stored.context.key)
    assert_turned_away(Client().post(address, {"outcome": "DROPPED", "reason": "x"}))
    assert not ReportDecision.objects.exists()


class TestPage:
    def test_says_that_there_is_nothing_and_that_nobody_is_told_by_mail(self, staff, study):
        make_report(make_planted_study(), "Elsewhere.")

        shown = page(staff, study)

        assert "nobody has reported anything" in shown
        assert "Elsewhere." not in shown
        assert "E-mail is not set up" in shown

    def test_shows_who_said_what_about_which_dialogue_and_messages(self, staff, study):
        stored = make_report(study, "It names <my> street.", ReportKind.UPSET)

        shown = page(staff, study)

        assert "It names &lt;my&gt; street." in shown
        assert stored.rater.code in shown
        assert ReportKind.UPSET.label in shown
        assert TURNS[0]["text"] in shown
        assert stored.lease.comparison.first.text in shown
        assert "1 conversation waits for a decision" in shown

    def test_puts_what_waits_before_what_was_decided(self, staff, study):
        waiting = make_report(study, "Waiting.")
        decided = make_report(study, "Decided.", now=NOW + HOUR)
        decide(staff, study, decided.context)

        shown = page(staff, study)

        assert shown.index(waiting.context.key) < shown.index(decided.context.key)
        assert "1 conversation waits for a decision" in shown

    def test_takes_few_queries_for_any_number_of_reports(
        self, staff, study, django_assert_max_num_queries
    ):
        for _ in range(8):
            decide(staff, study, make_report(study).context)

        # session, user, study; reports, decisions, held dialogues; alerts
        with django_assert_max_num_queries(8):
            staff.get(url(study))

    def test_says_why_the_last_mail_could_not_be_sent(self, staff, study, settings):
        settings.HEART_ADMINS = ["one@example.org"]
        make_report(study)
        ReportAlert.objects.update(error="ConnectionError: no route", claimed_at=NOW)

        shown = page(staff, study)

        assert "ConnectionError: no route" in shown
        assert "E-mail is not set up" not in shown


def test_the_overview_counts_dialogues_that_wait_however_many_reported_each(staff, study):
    link = f'<a href="{url(study)}">Study of kind words</a>'
    first = make_report(study)
    Comparison.objects.update(slots_left=4, shown_first_as_a=1)
    report(make_lease(comparison=first.lease.comparison))
    assert f"{link}: 1 conversation<" in overview(staff)

    second = make_report(study)
    assert f"{link}: 2 conversations" in overview(staff)

    for stored in (first, second):
        decide(staff, study, stored.context)
    assert "Reports wait for a decision" not in overview(staff)


class TestDeciding:
    @pytest.mark.parametrize("outcome", ReportOutcome.values)
    def test_stores_outcome_reason_and_who(self, staff, study, outcome):
        stored = make_report(study)

        answer = decide(staff, study, stored.context, outcome, "Seen by us.")

        decision = ReportDecision.objects.get()
        assert decision.decided_by is not None
        assert (decision.outcome, decision.decided_by.username) == (outcome, "ada")
        shown = answer.content.decode()
        assert "Seen by us." in shown
        assert "Nothing waits for a decision" in shown

    def test_shows_whether_a_dialogue_is_held_shown_to_others_or_dropped(self, staff, study):
        pair = make_comparison(study=study)
        for lease in [lease_next(make_rater(study=study)) for _ in range(2)]:
            report(lease)
        assert "held for everybody" in page(staff, study)

        decide(staff, study, pair.context)
        assert Comparison.objects.get().held_at is None
        assert "shown to others" in page(staff, study)

        decide(staff, study, pair.context, "DROPPED")
        assert Comparison.objects.get().held_at is not None
        assert "dropped" in page(staff, study)

    @pytest.mark.parametrize(("outcome", "reason"), [("RELEASED", " "), ("", "x"), ("BURNED", "x")])
    def test_without_outcome_or_reason_changes_nothing(self, staff, study, outcome, reason):
        stored = make_report(study)

        answer = decide(staff, study, stored.context, outcome, reason)

        assert 'class="notice error"' in answer.content.decode()
        assert not ReportDecision.objects.exists()

    def test_of_a_dialogue_that_nobody_reported_in_this_study_is_not_found(self, staff, study):
        unreported = make_comparison(study=study).context
        elsewhere = make_report(make_planted_study()).context

        for context in (unreported, elsewhere):
            assert decide(staff, study, context).status_code == 404
