"""What goes wrong is told without secrets and without what people wrote, wherever it is told."""

import io
import logging

import pytest
from django.core import mail
from django.db import IntegrityError
from django.test import Client

from access.choices import Scope
from annotation.judging.services import judging
from annotation.models import Lease
from annotation.session import http
from completions.writers.credentials import invitation_link
from heart_site.celery import app
from heart_site.monitoring import logs
from tests.helpers.factories import make_writer
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.processes import settings_with
from tests.helpers.visits import ANSWERS, enrol, open_study, url

pytestmark = pytest.mark.django_db

RATIONALE = "Planted rationale: she hears the kettle sing."
PASSWORD = "planted-password-of-the-database"
KEY = "sk-planted-key-of-a-provider"
SITE_KEY = "planted-secret-key-of-the-site"


@pytest.fixture
def log():
    """Everything that is logged, as a deployment writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    handler.addFilter(logs.add_id)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(autouse=True)
def planted(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings.SECRET_KEY = SITE_KEY


def leaks(log, *answers, also=()):
    """Name each planted word that stands in the log, in an answer or in a mail."""
    told = log.getvalue() + "".join(answer.content.decode() for answer in answers)
    told += "".join(one.message().as_string() for one in mail.outbox)
    return [word for word in (RATIONALE, PASSWORD, KEY, SITE_KEY, *also) if word in told]


class TestFaultsOfOurs:
    @pytest.fixture
    def submit(self):
        study, client = open_study(), Client(raise_request_exception=False)
        enrol(client, study, pid="planted-platform-id")
        client.get(url(study, "judge"))
        address = url(study, "submit", Lease.objects.get().token)
        return lambda: client.post(address, ANSWERS["preference"] | {"rationale": RATIONALE})

    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("broken"),
            IntegrityError(f"broken rule\nDETAIL:  Failing row contains (1, {RATIONALE})."),
        ],
        ids=["code", "database"],
    )
    def test_in_the_middle_of_an_answer(self, log, submit, monkeypatch, error):
        def broken(**_given):
            raise error

        monkeypatch.setattr(judging, "submit_and_assign_next", broken)

        answer = submit()

        assert answer.status_code >= 500
        assert "Traceback" in log.getvalue()
        assert "Traceback" not in answer.content.decode()
        assert leaks(log, answer, also=["planted-platform-id"]) == []

    def test_in_a_task(self, log):
        @app.task(name="tests.broken", shared=False)
        def broken():
            row = f"broken rule\nDETAIL:  Failing row contains (1, {RATIONALE})."
            raise IntegrityError(row)

        try:
            broken.apply()
        finally:
            app.tasks.unregister("tests.broken")

        assert "broken rule" in log.getvalue()
        assert leaks(log) == []


class TestVisitors:
    def test_links_and_tokens_are_in_no_line(self, log):
        study = open_study()
        link = http.credential(enrol(Client(), study), use="link")
        written = invitation_link(make_writer())
        secret = make_secret(Scope.READ_STUDIES)
        answers = [
            Client().get(url(study, "resume", link)),
            Client().get(url(study, "resume", link) + "no/such/page"),
            Client().get(written),
            Client().get("/api/v1/studies/", headers=bearing(secret)),
            Client().get("/api/v1/studies/no-such/", headers=bearing(secret)),
            Client().get("/api/v1/studies/", headers=bearing(secret + "x")),
            Client().post(f"/hooks/prolific/{study.slug}/", {"text": RATIONALE}),
        ]

        assert log.getvalue().count("heart.requests") >= len(answers)
        assert leaks(log, also=[link, written.rsplit("/", 2)[-2], secret]) == []

    def test_a_password_that_is_typed_is_in_no_line(self, log):
        member = make_member("ada")
        answer = Client().post("/accounts/login/", {"login": member.username, "password": PASSWORD})

        assert leaks(log, answer) == []

    @pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example/", "javascript:xq()"])
    def test_signing_in_leads_to_no_other_site(self, to):
        member = make_member("ada")
        member.set_password(PASSWORD)
        member.save()
        typed = {"login": "ada", "password": PASSWORD, "next": to}

        answer = Client().post("/accounts/login/", typed)

        assert answer.status_code == 302
        assert answer["Location"].startswith(("/console/", "/accounts/"))

    def test_another_host_than_ours_is_refused_and_not_repeated(self, log):
        answer = Client().get("/", headers={"Host": "evil.example"})

        assert answer.status_code == 400
        assert "evil.example" not in answer.content.decode()
        assert leaks(log, answer) == []


def test_nobody_is_mailed_what_went_wrong():
    """Django would mail an admin the whole request, with what was typed."""
    assert settings_with().get("ADMINS", []) == []
