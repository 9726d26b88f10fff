"""Studies whose releases verify: judged by people and by models, with hashes that are true."""

import datetime as dt
import json
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

from django.db.models import QuerySet

from annotation.models import Comparison, Judgment, Study
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
from tests.factories import NOW, digest, make_judge
from tests.factories_written_once import make_release
from tests.judged import make_marked_judgment
from tests.judged_people import make_study_of_people

START = NOW + dt.timedelta(hours=1)


def make_study_to_release(**fields: object) -> Study:
    """Four raters and two judges on texts of people and of models; ratings are computed."""
    study = make_study_of_people()
    content = study.content | {"seed_sha256": digest(study.seed)}
    hashed = {"content": content, "protocol_hash": content_hash(content)}
    Study.objects.filter(pk=study.pk).update(**hashed, **fields)
    for context in Context.objects.filter(dataset=study.dataset):
        Context.objects.filter(pk=context.pk).update(content_hash=turns_hash(context.turns))
    judges = [make_judge(), make_judge()]
    for number, comparison in enumerate(Comparison.objects.filter(study=study).order_by("pk")):
        for place, judge in enumerate(judges):
            make_marked_judgment(comparison, judge, 2 if (number + place) % 3 else -1)
    # As a study that was locked with its hash has them; nothing else may change a judgment.
    given = QuerySet(Judgment).filter(comparison__study=study)  # type: ignore[var-annotated]
    given.update(protocol_hash=content_hash(content))
    study.refresh_from_db()
    fit_services.refit_study(study=study, clock=lambda: START)
    return study


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
