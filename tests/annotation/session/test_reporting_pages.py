"""A rater skips a pair, or reports its conversation, from the judging page."""

import pytest
from django.test import Client

from annotation.choices import ReportKind
from annotation.models import Comparison, Judgment, Lease, Report
from completions.choices import LeaseOutcome
from tests.annotation.session.steps import show_pair, submit
from tests.helpers.factories import make_comparison, make_completion
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db
UPSET = {"reason": "upsetting", "text": "It is about my street."}


def report(client, study, token, **fields):
    return client.post(url(study, "report", token), fields)


def is_about(page, lease):
    return lease.comparison.first.text in page.content.decode()


class TestMenu:
    @pytest.mark.parametrize("kind", ["preference", "rubric", "likert"])
    def test_on_the_judging_page_has_room_for_words(self, client, kind, study, rater):
        forms = read_forms(client.get(url(study, "judge")))

        token = Lease.objects.get().token
        [menu] = [form for form in forms if form.action == url(study, "report", token)]
        assert "text" in menu.fields


class TestReport:
    @pytest.mark.parametrize("words", ["", "It names my street."], ids=["no words", "words"])
    def test_is_stored_and_the_conversation_does_not_come_back(self, client, study, lease, words):
        answer = report(client, study, lease.token, text=words)

        assert answer.status_code == 200
        page = answer.content.decode()
        assert "Thank you for telling us" in page
        assert f'href="{url(study, "judge")}"' in page
        assert 'form="break"' in page
        stored = Report.objects.get()
        assert (stored.kind, stored.text) == (ReportKind.CONTENT, words)
        assert not Judgment.objects.exists()
        following = client.get(url(study, "judge"))
        assert following.status_code == 200
        assert not is_about(following, lease)

    @pytest.mark.parametrize("reports", ["report", "skip"])
    def test_takes_earlier_pairs_of_the_conversation_away_as_well(self, client, reports):
        study = open_study(n_pairs=1)
        one = Comparison.objects.get()
        make_comparison(study=study, first=one.first, second=make_completion(context=one.context))
        enrol(client, study)
        for name, fields in (("submit", ANSWERS["preference"]), (reports, UPSET)):
            client.get(url(study, "judge"))
            lease = Lease.objects.get(closed_at=None)
            client.post(url(study, name, lease.token), fields)

        page = client.get(url(study, "last"), follow=True)

        assert Report.objects.exists()
        assert one.context.turns[0]["text"] not in page.content.decode()

    def test_sent_twice_is_stored_once_and_htmx_gets_a_heading_to_focus(self, client, study, lease):
        report(client, study, lease.token)

        again = client.post(url(study, "report", lease.token), {}, headers=HTMX)

        assert again.status_code == 200
        assert "<!doctype html>" not in again.content.decode()
        assert '<h1 id="stage-title" tabindex="-1">' in again.content.decode()
        assert Report.objects.count() == 1


class TestBadReport:
    def test_without_a_rater_is_refused_kindly(self, study, lease):
        answer = report(Client(), study, lease.token)

        assert answer.status_code == 403
        assert "Open the study again" in answer.content.decode()
        assert not Report.objects.exists()

    def test_cannot_be_made_by_following_a_link(self, client, study, lease):
        assert client.put(url(study, "report", lease.token)).status_code == 405


class TestSkip:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_every_reason_on_offer_leads_to_another_pair(self, client, headers):
        study = open_study(n_pairs=6)
        enrol(client, study)
        lease = show_pair(client, study)
        menu = next(
            form for form in read_forms(client.get(url(study, "judge"))) if "skip" in form.action
        )

        for name, reason in menu.buttons:
            if reason == "upsetting":
                continue
            answer = client.post(url(study, "skip", lease.token), {name: reason}, headers=headers)
            assert answer.status_code == (200 if headers else 303)
            lease.refresh_from_db()
            assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, reason)
            lease = show_pair(client, study)

        assert not Judgment.objects.exists()

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_what_upsets_is_never_shown_again_and_offers_help(self, client, study, lease, headers):
        context = lease.comparison.context
        make_comparison(study=study, first=make_completion(context=context))

        reason = {"reason": "upsetting"}
        page = client.post(url(study, "skip", lease.token), reason, headers=headers)

        text = page.content.decode()
        assert page.status_code == 200
        assert "You won’t see this conversation again" in text
        assert study.content["help_lines"][0]["name"] in text
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "upsetting")
        assert Report.objects.get().kind == ReportKind.UPSET
        for _ in range(study.comparisons.count()):
            client.get(url(study, "judge"))
            for shown in Lease.objects.filter(closed_at=None):
                assert shown.comparison.context != context
                submit(client, study, shown, ANSWERS["preference"])
