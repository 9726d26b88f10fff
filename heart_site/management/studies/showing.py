"""Show how a study stands: its state, its hash, its numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils import timezone

from annotation.overview import queries
from annotation.overview.queries import StudyOverview, StudyRow
from annotation.studies import counts as study_counts_counts
from heart_site.management.studies.act import Act, Say, add_study, the_study


def _show(options: Mapping[str, Any], say: Say) -> None:
    study = the_study(options)
    counts = study_counts_counts.study_counts(study, timezone.now())
    page = queries.study_page(study, row=StudyRow.of(study, counts.tally))
    n_checks = queries.active_checks(study).count()
    for line in _lines(page, n_checks):
        say(line)


def _lines(page: StudyOverview, n_checks: int) -> Iterator[str]:
    row, tally = page.row, page.row.tally
    yield f"{row.slug}: {row.title}"
    yield f"  version {page.version} of {page.name}, {row.state_label.lower()}, on {row.dataset}"
    yield f"  {row.protocol_label}"
    yield f"  {page.plan_label}"
    yield f"  protocol {page.protocol_hash or 'not locked yet'}"
    if not page.is_intact:
        yield "  THE STORED CONTENT IS NOT WHAT WAS LOCKED: its hash is another one"
    yield f"  confirmatory: {', '.join(page.confirmatory) or 'nothing is named'}"
    yield f"  {tally.contexts:,} contexts, {tally.completions:,} completions"
    yield f"  {tally.comparisons:,} comparisons, {n_checks:,} quality checks"
    yield f"  {tally.by_people:,} of {tally.wanted:,} judgments by people"
    yield f"  {tally.by_judges:,} judgments by models"


SHOW = Act(
    name="show",
    help="show a study's state, version, protocol hash and numbers",
    run=_show,
    add_arguments=add_study,
)
