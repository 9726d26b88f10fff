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


def url(study, name="reports", *args):
    return reverse(f"console:{name}", args=[study.slug, *args])


def page(client, study):
    return client.get(url(study)).content.decode()


def make_report(study, text="", kind=ReportKind.CONTENT, now=NOW):
    """Let a new rater report a new dialogue of the study."""
    pair = make_comparison(study=study, slots_left=4, shown_first_as_a=1)
    return report(make_lease(comparison=pair), kind, text, now=now)


def decide(client, study, context, outcome="RELEASED", reason="Read by two of us."):
    return client.post(
        url(study, "decide", context.key), {"outcome": outcome, "reason": reason}, follow=True
    )


class TestAccess:
    @pytest.mark.parametrize(("name", "args"), [("reports", []), ("decide", ["x"])])
    def test_is_for_members_alone(self, name, args):
        study = make_planted_study()

        answer = Client().get(url(study, name, *args))

        if answer.status_code != 405:
            assert_turned_away(answer)

    def test_others_decide_nothing(self):
        stored = make_report(make_planted_study())

        answer = Client().post(
            url(stored.rater.study, "decide", stored.context.key),
            {"outcome": "DROPPED", "reason": "x"},
        )

        assert_turned_away(answer)
        assert not ReportDecision.objects.exists()


class TestPage:
    def test_says_that_there_is_nothing(self, staff):
        assert "nobody has reported anything" in page(staff, make_planted_study())

    def test_shows_who_said_what_about_which_dialogue_and_messages(self, staff):
        stored = make_report(make_planted_study(), "It names <my> street.", ReportKind.UPSET)

        shown = page(staff, stored.rater.study)

        assert "It names &lt;my&gt; street." in shown
        assert stored.rater.code in shown
        assert ReportKind.UPSET.label in shown
        assert TURNS[0]["text"] in shown
        assert stored.lease.comparison.first.text in shown
        assert "1 conversation waits for a decision" in shown

    def test_leaves_out_what_other_studies_reported(self, staff):
        make_report(make_planted_study(), "Elsewhere.")

        assert "Elsewhere." not in page(staff, make_planted_study())

    def test_puts_what_waits_before_what_was_decided(self, staff):
        study = make_planted_study()
        waiting = make_report(study, "Waiting.")
        decided = make_report(study, "Decided.", now=NOW + HOUR)
        decide(staff, study, decided.context)

        shown = page(staff, study)

        assert shown.index(waiting.context.key) < shown.index(decided.context.key)
        assert "1 conversation waits for a decision" in shown

    @pytest.mark.parametrize("n_dialogues", [1, 8])
    def test_takes_few_queries_for_any_number_of_reports(
        self, staff, n_dialogues, django_assert_max_num_queries
    ):
        study = make_planted_study()
        for _ in range(n_dialogues):
            decide(staff, study, make_report(study).context)

        # session, user, study; reports, decisions, held dialogues; alerts
        with django_assert_max_num_queries(8):
            staff.get(url(study))

    def test_says_when_nobody_is_told_by_mail(self, staff):
        assert "E-mail is not set up" in page(staff, make_planted_study())

    def test_says_why_the_last_mail_could_not_be_sent(self, staff, settings):
        settings.HEART_ADMINS = ["one@example.org"]
        stored = make_report(make_planted_study())
        ReportAlert.objects.update(error="ConnectionError: no route", claimed_at=NOW)

        shown = page(staff, stored.rater.study)

        assert "ConnectionError: no route" in shown
        assert "E-mail is not set up" not in shown


class TestOverview:
    """Where staff land, and see without mail that something waits."""

    def shown(self, client):
        return client.get(reverse("console:overview")).content.decode()

    def test_counts_the_dialogues_that_wait_in_each_study(self, staff):
        study = make_planted_study(title="Study of kind words")
        for _ in range(2):
            make_report(study)

        shown = self.shown(staff)

        assert f'<a href="{url(study)}">Study of kind words</a>: 2 conversations' in shown

    def test_counts_a_dialogue_once_however_many_reported_it(self, staff):
        study = make_planted_study(title="Study of kind words")
        pair = make_report(study).lease.comparison
        Comparison.objects.update(slots_left=4, shown_first_as_a=1)
        report(make_lease(comparison=pair))

        assert "Study of kind words</a>: 1 conversation<" in self.shown(staff)

    def test_says_nothing_once_it_is_decided(self, staff):
        stored = make_report(make_planted_study())
        decide(staff, stored.rater.study, stored.context)

        assert "Reports wait for a decision" not in self.shown(staff)


class TestDeciding:
    @pytest.mark.parametrize("outcome", ReportOutcome.values)
    def test_stores_outcome_reason_and_who(self, staff, outcome):
        stored = make_report(make_planted_study())

        answer = decide(staff, stored.rater.study, stored.context, outcome, "Seen by us.")

        decision = ReportDecision.objects.get()
        assert decision.decided_by is not None
        assert (decision.outcome, decision.decided_by.username) == (outcome, "ada")
        shown = answer.content.decode()
        assert "Seen by us." in shown
        assert "Nothing waits for a decision" in shown

    def test_drops_the_dialogue_for_everybody(self, staff):
        stored = make_report(make_planted_study())

        decide(staff, stored.rater.study, stored.context, "DROPPED")

        assert Comparison.objects.get().held_at is not None
        assert "dropped" in page(staff, stored.rater.study)

    def test_releases_a_held_dialogue(self, staff):
        study = make_planted_study()
        make_comparison(study=study)
        for lease in [lease_next(make_rater(study=study)) for _ in range(2)]:
            report(lease)
        assert "held for everybody" in page(staff, study)
        pair = Comparison.objects.get()

        decide(staff, study, pair.context)

        assert Comparison.objects.get().held_at is None
        assert "shown to others" in page(staff, study)

    @pytest.mark.parametrize(("outcome", "reason"), [("RELEASED", " "), ("", "x"), ("BURNED", "x")])
    def test_without_outcome_or_reason_changes_nothing(self, staff, outcome, reason):
        stored = make_report(make_planted_study())

        answer = decide(staff, stored.rater.study, stored.context, outcome, reason)

        assert 'class="notice error"' in answer.content.decode()
        assert not ReportDecision.objects.exists()

    def test_of_a_dialogue_that_nobody_reported_is_not_found(self, staff):
        pair = make_comparison(study=make_planted_study())

        assert decide(staff, pair.study, pair.context).status_code == 404

    def test_of_another_studys_report_is_not_found(self, staff):
        stored = make_report(make_planted_study())

        assert decide(staff, make_planted_study(), stored.context).status_code == 404
