"""Every address, asked by everybody in every way: see the table in ``permissions.py``.

Under the address of one study or dataset nothing of another is found, whatever is asked. One with
the key of an object is filled by ``KEYS`` with an object of another study, or named in
``ELSEWHERE`` with the test that looks at it.
"""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db.models import Model
from django.shortcuts import resolve_url
from django.test import Client
from django.urls import get_resolver, reverse

from access.choices import Role
from annotation.models import (
    BlindingAudit,
    Comparison,
    ExternalBatch,
    QualityCheck,
    Rater,
    RationaleScan,
    Report,
    Study,
    ThemeCheck,
)
from completions.models import Candidate, Completion, Context, Hold, Message, SpotCheck, Writer
from ranking.choices import AnalysisKind
from ranking.models import Analysis, Fit, Release
from ranking.report import services as report_services
from tests.conftest import rolled_back
from tests.heart_site.permissions import METHODS, ROLES, TABLE, addresses, rule
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_candidate,
    make_comparison,
    make_dataset,
    make_dialogue,
    make_judge_call,
    make_judgment,
    make_lease,
    make_quality_check,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import (
    DONE,
    make_scan,
    make_spot_check,
    make_spot_check_item,
    make_theme_check,
    make_theme_check_item,
)
from tests.helpers.factories_of_people import make_audit, make_hold, make_report, make_sent
from tests.helpers.factories_of_site import make_batch
from tests.helpers.factories_written_once import make_member, make_release, make_user
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.pages import patterns

pytestmark = pytest.mark.django_db

NOT_FOUND = 404
SIGNING_OUT = ("accounts/", "w/sign-out/")


def outcome(answer, role):
    """Say in a word how an address received whoever asked.

    The admin leads a member without the right to its sign-in page, which refuses them; a part of a
    page has the page around it load anew, which does what it does.
    """
    if answer.status_code == 405:
        return "not allowed"
    if answer.status_code in {401, 403}:
        return "refused"
    location = answer.headers.get("Location", "").split("?")[0]
    if "HX-Refresh" in answer.headers:
        return "loads anew"
    if answer.status_code == 302 and location in doors():
        return "led to sign in" if role == "anyone" else "refused"
    return "let in"


def doors():
    return {resolve_url(settings.LOGIN_URL), "/admin/login/"}


def wanted(route, role, method):
    """Return the outcomes that the table allows."""
    least = rule(route).get(method)
    if least is None:  # refusing first is as good, but whoever is let in elsewhere has to hear it
        return {"not allowed"} if role == "owner" else {"not allowed", "refused", "led to sign in"}
    if least != "nobody" and ROLES.index(role) >= ROLES.index(least):
        return {"let in"}
    is_page = route.startswith("accounts/") or not (route.startswith("api/") or least == "nobody")
    return {"led to sign in"} if role == "anyone" and is_page else {"refused"}


def visitor(role):
    """Return somebody of that role, signed in where the role has an account."""
    client = Client()
    if role == "user":
        client.force_login(make_user(password=make_password(None)))
    elif role != "anyone":
        client.force_login(make_member(role=Role[role.upper()]))
    return client


def is_beside_the_line(route, role, method):
    """Tell whether a role is the least that is let in, or the one just below it.

    A method that is not allowed is tried by an owner, from whom nothing else is kept, as DELETE.
    """
    least = rule(route).get(method, "none")
    if least == "none":
        return (role, method) == ("owner", "DELETE")
    if least == "nobody":
        return role in {"anyone", "owner"}
    return ROLES.index(least) - ROLES.index(role) in {0, 1}


def differences(role, method, *, beside):
    """Ask at the addresses where this role stands so; yield what does not go as the table says."""
    make_study(slug="demo", dataset=make_dataset(slug="demo"))
    client = visitor(role)
    cookies = client.cookies.copy()
    for address in addresses():
        if address.route not in TABLE:
            continue
        if is_beside_the_line(address.route, role, method) is not beside:
            continue
        answer = client.generic(method, address.example)
        found, right = outcome(answer, role), wanted(address.route, role, method)
        if found not in {*right, "loads anew"} or answer.status_code >= 500:
            yield f"{address.route}: {found} ({answer.status_code}), not {' or '.join(right)}"
        is_shown = found == "let in" and answer.status_code < NOT_FOUND
        is_kept = "no-store" not in answer.headers.get("Cache-Control", "")
        if address.needs is not None and is_shown and is_kept:
            yield f"{address.route}: caches may keep what members alone are shown"
        if address.route.startswith(SIGNING_OUT):
            client = visitor(role)
            cookies = client.cookies.copy()
        client.cookies = cookies.copy()


def test_every_address_has_a_line_and_every_line_an_address():
    routes = {address.route for address in addresses()}

    assert sorted(routes - TABLE.keys()) == [], "add these to tests/heart_site/permissions.py"
    assert sorted(TABLE.keys() - routes) == [], "take these out of tests/heart_site/permissions.py"


@pytest.mark.parametrize("beside", [True, pytest.param(False, marks=pytest.mark.full)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("role", ROLES)
def test_everybody_is_received_as_the_table_says(role, method, beside):
    assert list(differences(role, method, beside=beside)) == []


def test_nothing_is_found_of_a_study_or_dataset_that_is_not_there():
    client, found = visitor("owner"), {}
    for address in addresses():
        if re.search("<slug:(study|dataset)>", address.route):
            asked = (client.get(address.example), client.post(address.example))
            found[address.route] = {answer.status_code for answer in asked}

    # A rater's form that is looked at leads to the page of it; programs need a token first.
    wrong = {route: met for route, met in found.items() if met - {303, 403, 404, 405}}
    assert wrong == {}
    assert sum(404 in met for met in found.values()) == len(found) > 100


def test_every_page_of_the_console_says_whom_it_answers():
    unsaid = [
        address.route
        for address in addresses()
        if address.route.startswith("console/") and address.needs is None
    ]

    assert unsaid == []


PK, KEY, CODE = {"pk": "pk"}, {"key": "key"}, {"code": "code"}
KEYS: dict[str, tuple[type[Model], str, dict[str, str]]] = {
    r"contexts:candidate": (Candidate, "dialogue__dataset", PK),
    r"contexts:decide": (Hold, "completion__context__dataset", PK),
    r"contexts:(context|review)": (Context, "dataset", KEY),
    r"writing:writer|writing:writer-act|console:withdraw_writer": (Writer, "dataset", CODE),
    r"writing:(message|decide|author)": (Message, "lease__context__dataset", PK),
    r"console:switch_check": (QualityCheck, "comparison__study", PK),
    r"console:judged": (Comparison, "study", KEY),
    r"console:personal_text": (RationaleScan, "judgment__comparison__study", {"pk": "judgment_id"}),
    r"console:decide_external": (ExternalBatch, "study", PK),
    r"console:decide": (Report, "rater__study", {"key": "context__key"}),
    r"raters:(rater|answers|answers_csv|exclude|reinstate)": (Rater, "study", CODE),
    r"strategies:(label|store|settle|store-settled)": (SpotCheck, "dataset", {"check": "pk"}),
    r"console:theme_(label|store|settle|store-settled)": (ThemeCheck, "study", {"check": "pk"}),
    r"blinding:audit": (BlindingAudit, "study", PK),
    r"raters:cell": (
        Completion,
        "context__dataset",
        {"context": "context__key", "system": "system__slug"},
    ),
    r"(raters|ranking):(release_zip|publish_release|unpublish_release)": (Release, "study", KEY),
    r"api:release\w*": (Release, "study", {"release": "key"}),
    r"raters:(un)?publish_fit": (Fit, "study", KEY),
    r"(ranking:(fit|ratings|weigh|analysis|table)\w*)|(api:(fit|analyses|analysis))": (
        Analysis,
        "fit__study",
        {"key": "fit__key", "table": "result__tables__0__key"},
    ),
}
"""For views: whose key it is, by what it belongs to a study or dataset, and parts of addresses."""
ALIKE = {"number": 1, "path": "README.md", "kind": "pairs", "form": "svg"}
"""Parts of addresses that every study has."""
ELSEWHERE = {
    "annotation:resume": "annotation/session/test_entry_pages.py: a link is signed for its study",
    "annotation:submit": "annotation/session/test_bad_input_pages.py, of another rater and study",
    "annotation:foreseen": "annotation/assignment/test_choosing.py, of another rater",
    "annotation:skip": "annotation/session/test_bad_input_pages.py",
    "annotation:report": "annotation/session/test_bad_input_pages.py",
    "data:prepare": "names no object",
    "raters:dictionary": "names no object",
    "raters:export": "names no object",
    "raters:reject": "ranking/monitor/test_console_pages.py: is there only with Prolific's key",
}

FILES = {"api:release_archive", "api:release_file", "ranking:release_zip", "raters:release_zip"}
"""Of a release whose files are there: ranking/releases/test_console_pages.py."""
WEIGHTS = {"ranking:weighed_csv", "ranking:weighed_json", "ranking:weights"}
"""Of a study with marks of dimensions: ranking/results/test_weights_pages.py."""


def routes() -> dict[str, list[str]]:
    """Return the views below a study or a dataset that are given the key of something else."""
    found = {}
    for route, name, _pattern in patterns(get_resolver().url_patterns):
        parts = re.findall(r"<(?:\w+:)?(\w+)>", route)
        if {"study", "dataset"} & set(parts) and len(parts) > 1 and not route.startswith("admin"):
            found[name] = parts
    return found


def filled(name: str, parts: list[str], *, study: Study, owner: Study) -> str:
    """Return the address of an object of ``owner`` under ``study``."""
    model, path, fields = next(of for pattern, of in KEYS.items() if re.fullmatch(pattern, name))
    whose = owner.dataset if path.endswith("dataset") else owner
    row = model._default_manager.filter(**{path: whose}).values(*fields.values())[:1].get()
    known = ALIKE | {part: row[field] for part, field in fields.items()}
    known |= {"study": study.slug, "dataset": study.dataset.slug}
    return reverse(name, kwargs={part: known[part] for part in parts})


@pytest.fixture(scope="class")
def theirs(module_rows) -> Iterator[Study]:
    """A study with an object at every address; it is only read."""
    with rolled_back():
        yield make_with_everything()


def make_with_everything() -> Study:
    study = make_study()
    comparison = make_comparison(study=study)
    make_candidate(dialogue=make_dialogue(dataset=study.dataset))
    writer = make_writer(dataset=study.dataset)
    make_sent(lease=make_writing_lease(writer=writer, context=comparison.context))
    make_quality_check(comparison=make_comparison(study=study))
    judgment = make_judgment(comparison=comparison, rationale="Warm.")
    make_scan(judgment=judgment)
    make_hold(completion=comparison.first)
    make_batch(study=study)
    make_report(lease=make_lease(comparison=comparison))
    make_audit(study=study)
    make_spot_check_item(spot_check=make_spot_check(dataset=study.dataset))
    make_theme_check_item(spot_check=make_theme_check(study=study), judgment=judgment)
    make_judge_call(comparison=comparison, **DONE)
    systems = [text.system for text in comparison.pair]
    make_judged_study(study=study, systems=systems)
    fit = fit_one(study, NOW + HOUR)
    report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PAIRS, clock=lambda: NOW + HOUR)
    make_release(study=study)
    return study


def test_every_address_with_the_key_of_an_object_is_looked_at():
    unfilled = [
        name
        for name in routes()
        if name not in ELSEWHERE and not any(re.fullmatch(one, name) for one in KEYS)
    ]

    assert unfilled == [], "add these to KEYS"


class TestAnObject:
    def statuses(self, study, owner):
        """Yield each name with its address, and how an owner of the site is received there."""
        client = visitor("owner")
        for name, parts in routes().items():
            if name not in ELSEWHERE:
                address = filled(name, parts, study=study, owner=owner)
                found = {client.get(address).status_code, client.post(address).status_code}
                yield name, address, found - {404, 405}

    def test_of_another_study_is_not_found(self, theirs):
        found = self.statuses(make_study(), theirs)

        assert {address: let_in for _, address, let_in in found if let_in} == {}

    def test_is_found_under_its_own(self, theirs):
        found = self.statuses(theirs, theirs)

        assert {name for name, _, let_in in found if not let_in} == FILES | WEIGHTS
