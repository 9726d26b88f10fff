"""Under the address of one study or dataset nothing of another is found, whatever is asked.

The addresses are those of the configuration. One with the key of an object is filled by ``KEYS``
with an object of another study, or named in ``ELSEWHERE`` with the test that looks at it.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
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
from tests.helpers.console_pages import patterns
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_candidate,
    make_comparison,
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
from tests.helpers.factories_written_once import (
    make_member,
    make_release,
)
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db

KEYS: dict[str, Callable[[Study], dict[str, Any]]] = {
    r"contexts:candidate": lambda b: _key(
        Candidate.objects.filter(dialogue__dataset=b.dataset), "pk"
    ),
    r"contexts:decide": lambda b: _key(
        Hold.objects.filter(completion__context__dataset=b.dataset), "pk"
    ),
    r"contexts:(context|review)": lambda b: _key(Context.objects.filter(dataset=b.dataset), "key"),
    r"writing:writer|writing:writer-act|console:withdraw_writer": lambda b: _key(
        Writer.objects.filter(dataset=b.dataset), "code"
    ),
    r"writing:(message|decide|author)": lambda b: _key(
        Message.objects.filter(lease__context__dataset=b.dataset), "pk"
    ),
    r"console:switch_check": lambda b: _key(QualityCheck.objects.filter(comparison__study=b), "pk"),
    r"console:judged": lambda b: _key(Comparison.objects.filter(study=b), "key"),
    r"console:personal_text": lambda b: _key(
        RationaleScan.objects.filter(judgment__comparison__study=b), "judgment_id", "pk"
    ),
    r"console:decide_external": lambda b: _key(ExternalBatch.objects.filter(study=b), "pk"),
    r"console:decide": lambda b: _key(Report.objects.filter(rater__study=b), "context__key", "key"),
    r"raters:(rater|answers|answers_csv|exclude|reinstate)": lambda b: _key(
        Rater.objects.filter(study=b), "code"
    ),
    r"strategies:(label|store|settle|store-settled)": lambda b: (
        _key(SpotCheck.objects.filter(dataset=b.dataset), "pk", "check") | {"number": 1}
    ),
    r"console:theme_(label|store|settle|store-settled)": lambda b: (
        _key(ThemeCheck.objects.filter(study=b), "pk", "check") | {"number": 1}
    ),
    r"blinding:audit": lambda b: _key(BlindingAudit.objects.filter(study=b), "pk"),
    r"raters:cell": lambda b: (
        _key(
            Completion.objects.filter(context__dataset=b.dataset),
            "context__key",
            "context",
        )
        | _key(Completion.objects.filter(context__dataset=b.dataset), "system__slug", "system")
    ),
    r"(raters|ranking):(release_zip|publish_release|unpublish_release)": lambda b: _key(
        Release.objects.filter(study=b), "key"
    ),
    r"api:release\w*": lambda b: (
        _key(Release.objects.filter(study=b), "key", "release") | {"path": "README.md"}
    ),
    r"raters:(un)?publish_fit": lambda b: _key(Fit.objects.filter(study=b), "key"),
    r"(ranking:(fit|ratings|weigh|analysis|table)\w*)|(api:(fit|analyses|analysis))": lambda b: (
        _key(Fit.objects.filter(study=b), "key")
        | _key(Analysis.objects.filter(fit__study=b), "result__tables__0__key", "table")
        | {"kind": "pairs", "form": "svg"}
    ),
}
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


def _key(rows: Any, field: str, part: str = "") -> dict[str, Any]:
    return {part or field: rows.values_list(field, flat=True)[:1].get()}


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
    rule = next(of for pattern, of in KEYS.items() if re.fullmatch(pattern, name))
    known = rule(owner) | {"study": study.slug, "dataset": study.dataset.slug}
    return reverse(name, kwargs={part: known[part] for part in parts})


@pytest.fixture
def theirs() -> Study:
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


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_object_of_another_study_is_not_found(theirs, method):
    ours, client = make_study(), Client()
    client.force_login(make_member(role=Role.OWNER))
    let_in = {}
    for name, parts in routes().items():
        if name in ELSEWHERE:
            continue
        address = filled(name, parts, study=ours, owner=theirs)
        status = getattr(client, method)(address).status_code
        if status not in {404, 405}:
            let_in[address] = status

    assert let_in == {}


def test_and_is_found_under_its_own(theirs):
    client = Client()
    client.force_login(make_member(role=Role.OWNER))
    unfound = set()
    for name, parts in routes().items():
        if name not in ELSEWHERE:
            address = filled(name, parts, study=theirs, owner=theirs)
            if {client.get(address).status_code, client.post(address).status_code} <= {404, 405}:
                unfound.add(name)

    assert unfound == FILES | WEIGHTS
