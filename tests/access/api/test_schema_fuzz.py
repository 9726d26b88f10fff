"""Every operation of the schema, as nobody, with a rater's token and with one of the team.

`make fuzz-api` asks more.
"""

import os
from dataclasses import replace

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from access.api.permissions import Scoped
from access.choices import Scope
from annotation.api.views import Studies
from completions.models import Context
from ranking.api.views import Judgments
from tests.access.api.fuzzing import Asker, Plan, failures, load
from tests.helpers.factories import make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_fit, make_rating
from tests.helpers.judged import make_judged_study
from tests.helpers.released import make_kept_release

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("fuzz")]
FEW = 2
MANY = int(os.environ.get("HEART_FUZZ_EXAMPLES", "8"))
NUMBER = int(os.environ.get("HEART_FUZZ_SEED", "20260105"))


@pytest.fixture(autouse=True)
def _keep_the_connection():
    """What is asked over WSGI would close the connection that the test's transaction is in."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def plan(settings, tmp_path) -> Plan:
    settings.HEART_API_RATES = dict.fromkeys(("anonymous", "read", "write"), 10**9)
    ash, beech = make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")
    study = make_judged_study(systems=[ash, beech], with_llm=True, n_dialogues=2)
    fit = make_fit(study=study)
    make_rating(fit=fit, system=ash)
    context = Context.objects.values_list("key", flat=True)[0]
    there = {"study": study.slug, "slug": "ash", "key": context, "path": "README.md"}
    settings.HEART_DATA_DIR = tmp_path
    return Plan(FEW, NUMBER, there | {"release": make_kept_release(study).key})


@pytest.fixture
def askers() -> dict[str, Asker]:
    rater = make_secret(Scope.WRITE_JUDGMENTS)
    return {
        "nobody": Asker({}, is_stranger=True),
        "rater": Asker(bearing(rater), {Scope.WRITE_JUDGMENTS}),
        "team": Asker(bearing(make_secret(*Scope)), set(Scope)),
    }


@pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["nobody", "rater", "team"])
def test_every_operation_answers_as_the_schema_says(name, n, askers, plan):
    assert list(failures(load(), askers[name], replace(plan, n_examples=n))) == []


class TestItSees:
    """The fuzzer is real: each planted fault is found, and named by its operation."""

    def found(self, asker, plan):
        quick = replace(plan, n_examples=4)
        schema = load().include(path_regex="/studies/(|{study}/judgments/)$")
        return list(failures(schema, asker, quick))

    def test_nothing_where_nothing_is_planted(self, askers, plan):
        assert self.found(askers["team"], plan) == []

    def test_a_fault(self, askers, plan, monkeypatch):
        monkeypatch.setattr(Studies, "get", lambda *_a, **_k: 1 / 0)

        (one,) = self.found(askers["team"], plan)

        assert one.startswith("GET /api/v1/studies/:")
        assert "Server error" in one

    def test_an_answer_that_the_schema_does_not_know(self, askers, plan, monkeypatch):
        honest = Studies.list

        def lying(self, request):
            answer = honest(self, request)
            answer.data["results"] = "all of them"
            return answer

        monkeypatch.setattr(Studies, "list", lying)

        (one,) = self.found(askers["nobody"], plan)

        assert one.startswith("GET /api/v1/studies/:")
        assert "schema" in one

    def test_a_door_left_open(self, askers, plan, monkeypatch):
        honest = Scoped.has_permission
        monkeypatch.setattr(
            Scoped,
            "has_permission",
            lambda self, request, view: isinstance(view, Judgments) or honest(self, request, view),
        )

        (one,) = self.found(askers["rater"], plan)

        assert one.startswith("GET /api/v1/studies/{study}/judgments/:")
        assert "beyond the scope read:judgments" in one
