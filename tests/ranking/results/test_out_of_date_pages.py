"""Results that decisions on raters, or withdrawals, have left behind say so until refitted."""

import datetime as dt

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.choices import RaterState
from annotation.models import Study
from annotation.quality import services as quality_services
from annotation.raters import services as rater_services
from completions.models import Completion
from ranking.fits import services
from tests.helpers.factories import NOW, make_judgment, make_writer
from tests.helpers.judged import make_judged_study
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
NOTE = "Out of date."


@pytest.fixture(scope="module")
def key(module_rows):
    study = make_judged_study()
    make_judgment(comparison=study.comparisons.first(), verdict=-1)
    services.refit_study(study=study, clock=lambda: NOW + HOUR)
    close(study)
    return study.pk


@pytest.fixture
def study(key):
    return Study.objects.get(pk=key)


def page(study):
    return Client().get(reverse("ranking:leaderboard", args=[study.slug])).content.decode()


def exclude(study):
    return quality_services.exclude_rater(
        rater=study.raters.latest("pk"),
        reason="For a test.",
        by=User.objects.create_user("boss"),
        now=NOW + 2 * HOUR,
    )


class TestTheNote:
    def test_is_not_there_while_nothing_was_decided(self, study):
        assert NOTE not in page(study)

    def test_stands_from_a_decision_to_the_next_fit(self, study):
        exclude(study)

        assert NOTE in page(study)
        services.refit_study(study=study, clock=lambda: NOW + 3 * HOUR)
        assert NOTE not in page(study)

    def test_stands_again_when_the_decision_is_taken_back(self, study):
        rater = exclude(study).rater
        services.refit_study(study=study, clock=lambda: NOW + 3 * HOUR)

        quality_services.reinstate_rater(
            rater=rater, reason="Mixed up.", by=User.objects.get(), now=NOW + 4 * HOUR
        )

        assert NOTE in page(study)

    def test_stands_after_answers_were_deleted_on_request(self, study):
        rater = study.raters.latest("pk")
        type(rater).objects.filter(pk=rater.pk).update(
            state=RaterState.WITHDRAWN, ended_at=NOW + 2 * HOUR, data_kept=False
        )

        assert NOTE in page(study)

    def test_stands_after_messages_were_deleted_on_request(self, study):
        of_a_person = study.comparisons.first().first
        writer = make_writer(dataset=study.dataset)
        Completion.objects.filter(pk=of_a_person.pk).update(writer=writer)

        rater_services.withdraw_writer(writer=writer, keep_texts=False, now=NOW + 2 * HOUR)

        assert NOTE in page(study)
        services.refit_study(study=study, clock=lambda: NOW + 3 * HOUR)
        assert NOTE not in page(study)

    def test_does_not_follow_from_decisions_in_another_study(self, study):
        other = make_judged_study()

        exclude(other)

        assert NOTE not in page(study)
