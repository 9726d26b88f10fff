"""Broken links into an open study are counted by the hour, and told to who can mend them."""

import datetime as dt

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import OperationalError, connection
from django.urls import reverse
from django.utils import timezone

from annotation import tasks
from annotation.choices import Platform, StudyState
from annotation.models import FailedArrival, Rater
from annotation.raters import entry_links
from annotation.raters.services import broken_links
from annotation.session.views import entering
from completions.writers import emails
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_of_people import make_failed_arrival
from tests.helpers.pages import text
from tests.helpers.visits import open_study, study_content, url

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)
SIMULATED = {"is_simulated": True, "title": "Simulated raters"}


def fail(study, *, at=NOW, n=1, platform=Platform.PROLIFIC):
    for _ in range(n):
        broken_links.count_failed_arrival(study=study, platform=platform, now=at)


class TestCounting:
    @pytest.mark.parametrize(
        ("parameters", "platform"),
        [({"STUDY_ID": "s", "SESSION_ID": "t"}, "PROLIFIC"), ({"pid": "<script>"}, "GENERIC")],
        ids=["no id beside the rest", "nonsense"],
    )
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
        [*({"state": state} for state in StudyState if state != StudyState.OPEN), SIMULATED],
        ids=str,
    )
    def test_nor_does_one_into_a_study_that_lets_no_people_in(self, fields):
        fail(make_study(**fields))

        assert not FailedArrival.objects.exists()

    def test_a_flood_is_a_row_an_hour_for_each_platform(self):
        study = make_study()
        for platform in ("PROLIFIC", "MTURK"):
            fail(study, n=5, platform=platform)
        fail(study, platform="MTURK", at=NOW + HOUR)

        rows = FailedArrival.objects.order_by("hour", "platform").values_list("platform", "n")
        assert list(rows) == [("MTURK", 5), ("PROLIFIC", 5), ("MTURK", 1)]


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

        page = text(admin_client.get(reverse("console:study", args=[study.slug])))

        assert "Broken links of Prolific in the last day: 5." in page
        assert "Broken links of Mechanical Turk in the last day: 1." in page
        for platform in ("PROLIFIC", "MTURK"):
            assert entry_links.FILLED_IN[platform].partition("&")[0] in page

    def test_names_the_study_in_the_overview_and_nothing_that_is_a_day_old(self, admin_client):
        study, other = make_study(title="Theirs"), make_study(title="Another")
        make_failed_arrival(study=study, n=3, hour=timezone.now() - HOUR)
        make_failed_arrival(study=other, hour=timezone.now() - 25 * HOUR)

        overview = text(admin_client.get(reverse("console:overview")))
        page = text(admin_client.get(reverse("console:study", args=[other.slug])))

        assert "Broken links turn people away Theirs : 3 visits in the last day" in overview
        assert "Another :" not in overview
        assert "Broken links" not in page


def send(now=NOW):
    return broken_links.send_arrival_alerts(now=now)


class TestAlert:
    """Admins hear of it by e-mail: soon, once a day for a study, and how to mend the link."""

    @pytest.fixture(autouse=True)
    def _mail_is_set_up(self, settings):
        settings.HEART_ADMINS = ["one@example.org", "two@example.org"]
        settings.HEART_EMAIL_FROM = "heart@example.org"
        settings.HEART_SITE_URL = "https://heart.example.org"

    def test_goes_to_every_admin_with_the_link_as_it_has_to_be(self):
        study = make_study(title="A study")
        fail(study, n=2)
        fail(study, n=3, at=NOW + HOUR)
        fail(study, platform=Platform.MTURK)

        assert send(NOW + HOUR) == 1

        [message] = mail.outbox
        assert message.to == ["one@example.org", "two@example.org"]
        entry = f"https://heart.example.org/s/{study.slug}/"
        assert "A study: 5 from Prolific." in message.body
        assert "A study: 1 from Mechanical Turk." in message.body
        assert f"{entry}?{entry_links.FILLED_IN['PROLIFIC']}" in message.body
        assert f"https://heart.example.org/console/{study.slug}/" in message.body

    def test_is_shared_by_studies_and_tells_of_another_one_at_once(self):
        make_failed_arrival(hour=NOW - 3 * DAY)
        assert send() == 0, "what is old is no news"
        fail(make_study())
        fail(make_study())

        assert send() == 2
        assert len(mail.outbox) == 1
        fail(make_study(), at=NOW + HOUR)
        assert send(NOW + HOUR) == 1

    def test_comes_once_a_day_in_a_flood(self):
        study = make_study()
        told = []
        for hour in (0, 12, 23, 24, 25):
            for platform in (Platform.PROLIFIC, Platform.GENERIC):
                fail(study, at=NOW + hour * HOUR, platform=platform)
            told.append(send(NOW + hour * HOUR))

        assert told == [1, 0, 0, 1, 0]

    def test_is_sent_once_though_the_task_runs_twice(self, site_clock):
        fail(make_study())

        assert [tasks.send_arrival_alerts(), tasks.send_arrival_alerts()] == [1, 0]
        assert len(mail.outbox) == 1

    def test_is_tried_again_where_the_mail_server_failed(self, monkeypatch):
        def refuse(self, messages):
            msg = "no route to host"
            raise ConnectionError(msg)

        fail(make_study())
        with monkeypatch.context() as patch:
            patch.setattr(EmailBackend, "send_messages", refuse)
            assert send() == 0

        assert send(NOW + HOUR) == 1

    @pytest.mark.parametrize(
        "missing",
        [{"HEART_ADMINS": []}, {"EMAIL_BACKEND": emails.NO_SERVER}],
        ids=["nobody to write to", "no server"],
    )
    def test_waits_without_mail_and_rows_go_after_a_month(self, missing, settings):
        for name, value in missing.items():
            setattr(settings, name, value)
        make_failed_arrival(hour=NOW - broken_links.KEPT - HOUR)
        young = make_failed_arrival(hour=NOW - broken_links.KEPT + HOUR)
        fail(make_study())

        assert send() == 0
        assert set(FailedArrival.objects.values_list("alerted_at", flat=True)) == {None}
        assert FailedArrival.objects.count() == 2
        assert FailedArrival.objects.filter(pk=young.pk).exists()
