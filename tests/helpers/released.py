"""Studies whose releases verify, whose exports are complete, or whose raters are reviewed."""

import datetime as dt
import json
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

from django.db.models import QuerySet

from annotation.choices import CheckKind, Protocol, Purpose, Side
from annotation.models import Comparison, Exclusion, Judgment, QualityCheck, Rater, Study
from completions.choices import CallState, LeaseOutcome
from completions.dialogues.context_extraction import turns_hash
from completions.files.toml import content_hash
from completions.models import Context
from ranking import figures
from ranking.choices import ReleaseState
from ranking.fits import services as fit_services
from ranking.models import Release
from ranking.released import queries as released_queries
from ranking.released.writing import SUMS, sha256_of, sums
from ranking.releases import services as release_services
from tests.helpers.factories import (
    HOUR,
    NOW,
    digest,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judge_call,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_site import make_batch, make_external
from tests.helpers.factories_written_once import make_exclusion, make_release, make_user
from tests.helpers.judged import make_judged_study, make_marked_judgment, make_study_of_people

START = NOW + dt.timedelta(hours=1)


def make_study_to_release(**fields: object) -> Study:
    """Four raters and two judges on texts of people and of models; ratings are computed."""
    study = make_study_of_people()
    judges = [make_judge(), make_judge()]
    for number, comparison in enumerate(Comparison.objects.filter(study=study).order_by("pk")):
        for place, judge in enumerate(judges):
            make_marked_judgment(comparison, judge, 2 if (number + place) % 3 else -1)
    Study.objects.filter(pk=study.pk).update(**fields)
    put_under_hashes(study)
    fit_services.refit_study(study=study, clock=lambda: START)
    return study


def put_under_hashes(study: Study) -> None:
    """Give a study, its contexts and its judgments the hashes that they have once it is locked."""
    study.refresh_from_db()
    content = study.content | {"seed_sha256": digest(study.seed)}
    hashed = {"content": content, "protocol_hash": content_hash(content)}
    Study.objects.filter(pk=study.pk).update(**hashed)
    for context in Context.objects.filter(dataset=study.dataset):
        Context.objects.filter(pk=context.pk).update(content_hash=turns_hash(context.turns))
    # As a study that was locked with its hash has them; nothing else may change a judgment.
    given = QuerySet(Judgment).filter(comparison__study=study)  # type: ignore[var-annotated]
    given.update(protocol_hash=content_hash(content))
    study.refresh_from_db()


def build(study: Study, folder: Path, *, is_drawn: bool = True) -> Release:
    """Claim the release of the study's state and build it in the folder.

    Drawing takes most of the time: tests that look at no figure may have them blank.
    """
    release = release_services.claim_release(study=study, now=START)
    blank = mock.patch.object(figures, "rendered", return_value=b"<svg/>")
    with nullcontext() if is_drawn else blank:
        release_services.build_release(release=release, folder=folder, clock=lambda: START)
    release.refresh_from_db()
    return release


def make_kept_release(study: Study, **fields: object) -> Release:
    """Store a release that is built, with a file where the site keeps them."""
    built = {"state": ReleaseState.DONE, "ended_at": START, "manifest_hash": "0" * 64}
    release = make_release(study=study, **built | fields)
    folder = released_queries.folder_of(release)
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("Read me.\n", encoding="utf-8")
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")
    Release.objects.filter(pk=release.pk).update(manifest_hash=sha256_of(folder / SUMS))
    release.refresh_from_db()
    return release


def change_row(folder: Path, name: str, **fields: object) -> None:
    """Change fields of the first row of a table."""
    path = folder / f"data/{name}.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(first) | fields) + "\n" + "".join(others))


def change_document(folder: Path, name: str, change) -> None:
    """Let a function change a file of JSON in place."""
    path = folder / name
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def forge_sums(folder: Path) -> None:
    """Compute the list of checksums anew, as a careful forger would."""
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")


LATER = NOW + 2 * HOUR


def make_mixed_study() -> Study:
    """A judged study, and beside what counts one judgment for each reason why not."""
    study = make_judged_study(with_llm=True, n_dialogues=6)
    _people(study)
    _pairs(study)
    _judges(study)
    make_external(batch=make_batch(study=study), comparison=study.comparisons.all()[0])
    make_judgment(
        comparison=make_comparison(study=study),
        first_side=Side.B,
        verdict=-2,
        rationale='=2+2, "quoted"\nand a second line',
    )
    return study


def _people(study: Study) -> None:
    gone = make_rater(study=study, state="WITHDRAWN", ended_at=NOW, data_kept=False)
    out, program = make_rater(study=study), make_rater(study=study, is_simulated=True)
    make_exclusion(rater=out, rule="pace v1")
    back = make_rater(study=study)
    make_exclusion(rater=back, rule="pace v1")
    by_hand = {"rule": "by hand", "decided_at": NOW + HOUR, "decided_by": make_user()}
    make_exclusion(rater=back, is_excluded=False, reason="Read it.", **by_hand)
    for rater in (gone, out, program, back):
        make_judgment(comparison=make_comparison(study=study), rater=rater)
    surplus = make_judgment(comparison=make_comparison(study=study), is_surplus=True)
    make_judgment(revises=make_judgment(comparison=surplus.comparison))
    late = LATER + HOUR
    make_judgment(comparison=make_comparison(study=study), shown_at=late, submitted_at=late)


def _pairs(study: Study) -> None:
    planted = make_comparison(study=study, purpose=Purpose.CHECK)
    check = make_quality_check(comparison=planted, kind=CheckKind.GOLD)
    rater = make_rater(study=study)
    lease = make_lease(comparison=planted, rater=rater, quality_check=check, number=1)
    make_judgment(comparison=planted, rater=rater, lease=lease)
    pair = make_comparison(study=study)
    answered = make_judgment(comparison=pair, rater=make_rater(study=study))
    again = make_lease(comparison=pair, rater=answered.rater, repeats=answered.lease, number=90)
    make_judgment(comparison=pair, rater=answered.rater, lease=again)
    human = make_system(kind="HUMAN")
    one, other = (make_writer(dataset=study.dataset) for _ in range(2))
    first = make_completion(system=human, writer=one)
    second = make_completion(system=human, writer=other, context=first.context)
    make_judgment(comparison=make_comparison(study=study, first=first, second=second))
    erased = make_completion(
        system=human, writer=make_writer(dataset=study.dataset), text="", erased_at=NOW
    )
    other_text = make_completion(context=erased.context)
    make_judgment(comparison=make_comparison(study=study, first=erased, second=other_text))


def _judges(study: Study) -> None:
    pair = make_comparison(study=study)
    out = make_judge(name="Judge out")
    make_exclusion(judge=out, rule="by hand")
    make_llm_judgment(comparison=pair, judge=out)
    call = make_judge_call(comparison=pair, state=CallState.PENDING)
    make_llm_judgment(comparison=pair, judge=call.judge, judge_call=call)
    make_llm_judgment(comparison=pair, first_side=Side.B, protocol=Protocol.RUBRIC, verdict=4)


def answer(
    comparison: Comparison, rater: Rater, verdict: int | None, *, seconds: float = 40, **lease: Any
) -> Judgment:
    """Let a rater answer, after so many seconds; the other fields are the lease's."""
    issued_at = lease.setdefault("issued_at", NOW)
    submitted_at = issued_at + dt.timedelta(seconds=seconds)
    held = make_lease(
        comparison=comparison,
        rater=rater,
        expires_at=issued_at + HOUR,
        closed_at=submitted_at,
        outcome=LeaseOutcome.SUBMITTED,
        **lease,
    )
    return make_judgment(
        comparison=comparison,
        rater=rater,
        lease=held,
        protocol=rater.study.protocol,
        verdict=verdict,
        shown_at=issued_at,
        submitted_at=submitted_at,
    )


def make_pairs(study: Study, *, n_contexts: int = 5, n_systems: int = 3) -> list[Comparison]:
    """Make all pairs of a few systems in a few contexts of different dialogues."""
    systems = [make_system() for _ in range(n_systems)]
    pairs = []
    for _context in range(n_contexts):
        context = make_context(dataset=study.dataset)
        completions = [make_completion(context=context, system=system) for system in systems]
        pairs += [
            make_comparison(study=study, first=first, second=second)
            for first, second in combinations(completions, 2)
        ]
    return pairs


def better(place: int) -> int:
    """What readers think of the pair at that place: the first mostly, not always."""
    return -1 if place % 4 == 3 else 1


def read(rater: Rater, pairs: Sequence[Comparison]) -> None:
    """Answer every pair as readers do, each a little faster or slower."""
    for place, pair in enumerate(pairs):
        answer(pair, rater, better(place), seconds=40 + place)


def make_checks(study: Study, n: int = 4, **fields: Any) -> list[QualityCheck]:
    planted = [make_comparison(study=study, purpose=Purpose.CHECK) for _ in range(n)]
    return [make_quality_check(comparison=one, **fields) for one in planted]


def answer_checks(rater: Rater, checks: Sequence[QualityCheck], verdict: int, **lease: Any) -> None:
    for check in checks:
        answer(check.comparison, rater, verdict, quality_check=check, **lease)


def make_reviewed_study(**fields: Any) -> tuple[Study, Rater]:
    """Make a study of three readers and one who reads as they do but fails every check."""
    study = make_study(**{"judgments_per_pair": 4} | fields)
    pairs, checks = make_pairs(study), make_checks(study)
    readers = [make_rater(study=study) for _ in range(3)]
    careless = make_rater(study=study)
    for rater in (*readers, careless):
        read(rater, pairs)
        answer_checks(rater, checks, -1 if rater == careless else 2)
    return study, careless


def decisions(rater: Rater) -> list[tuple[bool, str]]:
    """What was decided about a rater, oldest first."""
    rows = Exclusion.objects.filter(rater=rater).order_by("pk")
    return list(rows.values_list("is_excluded", "rule"))
