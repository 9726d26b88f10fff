"""Broken links into an open study are counted by the hour, and told to who can mend them."""

import pytest
from django.db import OperationalError, connection
from django.urls import reverse
from django.utils import timezone

from annotation.choices import Platform, StudyState
from annotation.models import FailedArrival, Rater
from annotation.raters import entry_links
from annotation.raters.services import broken_links
from annotation.session.views import entering
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_of_people import make_failed_arrival
from tests.helpers.pages import text
from tests.helpers.visits import open_study, study_content, url

pytestmark = pytest.mark.django_db

BROKEN = {
    "a placeholder of Prolific": ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "PROLIFIC"),
    "an empty id": ({"PROLIFIC_PID": ""}, "PROLIFIC"),
    "no id beside the rest": ({"STUDY_ID": "s", "SESSION_ID": "t"}, "PROLIFIC"),
    "no worker": ({"assignmentId": "3XYZ"}, "MTURK"),
    "undefined": ({"participantId": "undefined"}, "CONNECT"),
    "nonsense": ({"pid": "<script>"}, "GENERIC"),
}


class TestCounting:
    @pytest.mark.parametrize(("parameters", "platform"), BROKEN.values(), ids=BROKEN)
    def test_a_broken_link_counts_for_its_platform_and_nothing_else_is_stored(
        self, client, parameters, platform
    ):
        study = open_study()

        assert client.get(url(study, "entry"), parameters).status_code == 400

        row = FailedArrival.objects.get()
        assert (row.study, row.platform, row.n) == (study, platform, 1)
        assert row.hour <= row.first_at == row.last_at
        assert (row.hour.minute, row.hour.second, row.hour.microsecond) == (0, 0, 0)
        stored = {field.name for field in FailedArrival._meta.get_fields()}
        times = {"hour", "first_at", "last_at", "alerted_at"}
        assert stored == {"id", "study", "platform", "n", *times}
        assert not Rater.objects.exists()

    @pytest.mark.parametrize("parameters", [{}, {"pid": "77"}], ids=["bare", "of another"])
    def test_so_does_a_link_that_is_not_of_the_studys_platform(self, client, parameters):
        crowd = study_content()["crowd"] | {"platform": "prolific"}
        study = open_study(content=study_content(crowd=crowd))

        page = client.get(url(study, "entry"), parameters)

        assert page.status_code == 400
        assert "open the study from your platform" in page.content.decode()
        row = FailedArrival.objects.get()
        assert (row.study, row.platform, row.n) == (study, "PROLIFIC", 1)

    @pytest.mark.parametrize("parameters", [{}, {"PROLIFIC_PID": "5f3a"}, {"workerId": "A1"}])
    def test_a_right_link_does_not(self, client, parameters):
        client.get(url(open_study(), "entry"), parameters)

        assert not FailedArrival.objects.exists()

    @pytest.mark.parametrize(
        "fields",
        [
            *({"state": state} for state in StudyState if state != StudyState.OPEN),
            {"is_simulated": True, "title": "Simulated raters"},
        ],
        ids=str,
    )
    def test_nor_does_one_into_a_study_that_lets_no_people_in(self, client, fields):
        study = open_study(**fields)

        assert client.get(url(study, "entry"), {"pid": ""}).status_code == 400

        assert not FailedArrival.objects.exists()

    def test_a_flood_is_a_row_an_hour_for_each_platform(self):
        study = make_study()
        for _ in range(50):
            for platform in ("PROLIFIC", "MTURK"):
                broken_links.count_failed_arrival(study=study, platform=platform, now=NOW)
        broken_links.count_failed_arrival(study=study, platform="MTURK", now=NOW + HOUR)

        rows = FailedArrival.objects.order_by("hour", "platform").values_list("platform", "n")
        assert list(rows) == [("MTURK", 50), ("PROLIFIC", 50), ("MTURK", 1)]


def refuse_to_count(execute, sql, params, many, context):
    if "failedarrival" in sql:
        msg = "attempt to write a readonly database"
        raise OperationalError(msg)
    return execute(sql, params, many, context)


def test_the_visitor_reads_their_page_where_nothing_can_be_written(client, caplog):
    study = open_study()

    with connection.execute_wrapper(refuse_to_count):
        page = client.get(url(study, "entry"), {"PROLIFIC_PID": ""})

    assert page.status_code == 400
    assert "Please open the study from your platform" in page.content.decode()
    assert f"an arrival at {study.slug} was not counted: OperationalError" in caplog.text
    assert study.slug in client.get(url(study, "entry")).content.decode()


def test_the_page_is_made_before_anything_is_counted(rf, monkeypatch):
    counted = []
    monkeypatch.setattr(broken_links, "count_failed_arrival", lambda **row: counted.append(row))
    study = open_study()
    request = rf.get(url(study, "entry"), {"pid": ""})

    assert entering.entry(request, study=study.slug).status_code == 400
    assert counted == []
    request.close()

    assert [(row["study"], row["platform"]) for row in counted] == [(study, "GENERIC")]


class TestConsole:
    def test_says_what_the_link_has_to_be(self, admin_client):
        study, now = make_study(), timezone.now()
        make_failed_arrival(study=study, n=3, hour=now - 2 * HOUR)
        make_failed_arrival(study=study, n=2, hour=now - HOUR)
        make_failed_arrival(study=study, platform=Platform.MTURK, hour=now - HOUR)

        page = admin_client.get(reverse("console:study", args=[study.slug]))

        assert "Broken links of Prolific in the last day: 5." in text(page)
        assert "Broken links of Mechanical Turk in the last day: 1." in text(page)
        for platform in ("PROLIFIC", "MTURK"):
            assert entry_links.FILLED_IN[platform].partition("&")[0] in text(page)

    def test_names_the_study_in_the_overview_and_nothing_that_is_a_day_old(self, admin_client):
        study, other = make_study(title="Theirs"), make_study(title="Another")
        make_failed_arrival(study=study, n=3, hour=timezone.now() - HOUR)
        make_failed_arrival(study=other, hour=timezone.now() - 25 * HOUR)

        overview = text(admin_client.get(reverse("console:overview")))
        page = text(admin_client.get(reverse("console:study", args=[other.slug])))

        assert "Broken links turn people away Theirs : 3 visits in the last day" in overview
        assert "Another :" not in overview
        assert "Broken links" not in page
