"""What the pages of results say of systems made from people."""

import re

import pytest
from django.urls import reverse

from annotation.models import Study
from ranking.fits import services
from ranking.models import Fit
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_written_once import make_human_rating
from tests.helpers.judged import make_judged_study, make_study_of_people
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def key(module_rows):
    return refitted(make_study_of_people()).pk


@pytest.fixture
def study(key):
    return Study.objects.get(pk=key)


def refitted(study):
    services.refit_study(study=study, clock=lambda: NOW + HOUR)
    return close(study)


def shown(client, study):
    page = client.get(reverse("ranking:leaderboard", args=[study.slug])).content.decode()
    _, mark, people = page.partition('<figure class="board people')
    return " ".join(re.sub(r"<[^>]+>", " ", mark + people.partition("</figure>")[0]).split())


class TestPeople:
    def test_stand_under_the_table_the_plain_best_last_and_cautioned(self, client, study):
        text = shown(client, study)

        for rating in study.fits.get(pool="HUMAN", context_set="ALL").human_ratings.all():
            assert f"{rating.elo:.0f} {rating.elo_low:.0f} to {rating.elo_high:.0f}" in text
        names = ["Average Human", "Best Human, cross-fitted", "Best Human, plain too high"]
        assert [*map(text.index, names)] == sorted(map(text.index, names))

    def test_say_how_to_read_them_and_on_what_they_rest(self, client, study):
        text = shown(client, study)

        assert "All contexts: 80 judgments on 4 source dialogues." in text
        assert "no rank" in text
        assert "luck counts as skill" in text
        assert "4 of 4" in text
        assert "Each text met 2.0 systems on average" in text

    def test_say_why_one_is_missing(self, client):
        text = shown(client, refitted(make_study_of_people(n_raters=1)))

        assert "Best Human, cross-fitted: One evaluator judged all of these texts" in text

    def test_say_when_they_are_simulated(self, client, study):
        assert "simulated" not in shown(client, study)
        Fit.objects.update(is_simulated=True)

        assert "People simulated" in shown(client, study)

    def test_are_not_there_when_nobody_wrote(self, client):
        assert shown(client, refitted(make_judged_study())) == ""

    def test_cost_no_more_queries_for_more_texts(self, client, django_assert_max_num_queries):
        study = refitted(make_study_of_people(n_texts=3))

        with django_assert_max_num_queries(11):  # as without people, see test_results
            client.get(reverse("ranking:leaderboard", args=[study.slug]))


def test_admins_can_look_at_them_and_change_nothing(admin_client):
    rating = make_human_rating()
    listed = reverse("admin:ranking_humanrating_changelist")
    shown_alone = reverse("admin:ranking_humanrating_change", args=[rating.pk])
    of_fit = reverse("admin:ranking_fit_change", args=[rating.fit_id])

    for address in (listed, shown_alone, of_fit):
        assert "Average Human" in admin_client.get(address).content.decode()
    assert admin_client.post(shown_alone, {}).status_code == 403
