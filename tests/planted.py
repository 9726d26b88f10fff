"""Studies with quality checks and reports, for tests of what comes of them."""

from typing import Any

from annotation.choices import Protocol, ReportKind
from annotation.models import Comparison, Lease, Report, Study
from annotation.quality import services
from annotation.quality.services.reporting import ReportWords
from tests.factories import NOW, RUBRIC, make_comparison, make_completion, make_study

CONTENT: dict[str, Any] = {
    "rubric": RUBRIC,
    "checks": {"rate": 0, "repeat_rate": 0, "gold_set": "heart-1"},
    "screening": {"pairs": 0, "min_passed": 0},
    "comprehension": [],
    "break_every": 20,
    "reports_to_hold": 2,
    "crowd": {"platform": "any"},
}


def make_planted_study(*, checks: dict[str, Any] | None = None, **fields: Any) -> Study:
    """Make a study whose file names a gold set; load_gold plants it."""
    content = make_study_content(checks=checks or {})
    return make_study(**{"content": content} | fields)


def make_study_content(*, checks: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return CONTENT | {"checks": CONTENT["checks"] | checks} | parts


def make_rated_alone(study: Study | None = None) -> Comparison:
    """Make the comparison of a likert study: one completion."""
    study = study or make_planted_study(protocol=Protocol.LIKERT)
    pair = make_comparison(study=study)
    alone = make_completion(context=pair.context)
    return Comparison.objects.create(
        study=study, context=pair.context, first=alone, key="alone", position=0, slots_left=5
    )


def report(lease: Lease, kind: ReportKind = ReportKind.CONTENT, text: str = "", now=NOW) -> Report:
    return services.report_context(
        token=lease.token, rater=lease.rater, words=ReportWords(kind, text), now=now
    )
