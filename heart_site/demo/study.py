"""The demo: a small study from a file of dialogues to a leaderboard, with the real components.

Systems and judges are simulated: the offline provider answers them. Each step finds what an
earlier run left and adds what is missing, so running it again resumes.
"""

import datetime as dt
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import slugify
from tqdm import tqdm

from annotation.judges.services import runs
from annotation.judges.services.registering import register_simulated_judge
from annotation.models import Study
from annotation.planning import services as planning_services
from annotation.studies import queries as study_queries
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from completions.contexts.services import building, rewriting
from completions.contexts.services.rewrite_planning import Assistants, NoSourceLeftError
from completions.dialogues import importing
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.files import read_dialogues
from completions.dialogues.queries import dataset_named
from completions.generation import planning as generation_queries
from completions.generation import services as generation_services
from completions.models import Dataset
from completions.runs.services import running as run_services
from completions.systems.services import registering
from completions.writers import queries as writer_queries
from completions.writers.credentials import invitation_link
from completions.writers.services import inviting
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits import queries as ranking
from ranking.fits.services import publishing
from ranking.judgments.analysis_set import n_judgments
from ranking.models import Fit

CONTEXTS_AUTHORED = 24
CONTEXTS_OF_A_FILE = 30
ADVERSARIAL = 4  # one of each escalation profile
SEED = 7
VOICES = ("alder", "birch", "cedar")
JUDGES = ("alder", "birch")
TICK_S = 0.1
STALLED_S = 120.0

Count = Callable[[], tuple[int, int]]


class DemoStalledError(Exception):
    """Nothing moved for a while; the message says what was being waited for."""


def prepare(file: Path | None, *, now: dt.datetime, say: Callable[[str], object]) -> Study:
    """Import the dialogues, build the contexts, create and open the study.

    Without a file of the user's own they are the authored ones. ``say`` is told how many records
    of the file could not be used.

    Raises
    ------
    completions.dialogues.ingest.dialogue.IngestError
        If the file cannot be read as dialogues; nothing is stored then.
    completions.contexts.selection.SelectionError
        If the file has too few fitting turns.
    """
    name = "demo" if file is None else slugify(file.stem) or "file"
    slug = name if file is None else f"demo-{name}"[:50]
    report = importing.import_dialogues(
        dataset_name=name,
        dialogues=read_dialogues(file or DIALOGUES),
        now=now,
        is_authored=file is None,
    )
    if report.bad:
        say(f"{file}: {report.n_skipped:,} bad records skipped, first {report.bad[0]}")
    n = CONTEXTS_AUTHORED if file is None else CONTEXTS_OF_A_FILE
    building.build_contexts(dataset_name=name, n=n, seed=SEED, now=now)
    return study_queries.study_by_slug(slug) or _create_study(slug, dataset_named(name), now=now)


def _create_study(slug: str, dataset: Dataset, *, now: dt.datetime) -> Study:
    protocol = load_protocol(STUDIES / "demo.toml").model_copy(update={"slug": slug})
    study = drafts.create_study(
        protocol=protocol, rubric=load_rubric(protocol.rubric), dataset=dataset, now=now
    )
    return states.open_study(study=study, now=now)


def add_adversarial_contexts(study: Study, *, say: Callable[[str], object]) -> None:
    """Have the offline provider make some contexts hostile; it has to be running.

    A file of the user's own may have none to make them from: ``say`` is told so.
    """
    assistants = Assistants(
        rewriter=registering.assistant_for("rewriter", registering.OFFLINE),
        hostility_rater=registering.assistant_for("hostility-rater", registering.OFFLINE),
    )
    try:
        rewriting.make_adversarial_contexts(
            dataset=study.dataset,
            n=ADVERSARIAL,
            seed=SEED,
            assistants=assistants,
            clock=timezone.now,
        )
    except NoSourceLeftError as error:
        say(f"No adversarial contexts in this demo: {error}")


def run(study: Study) -> Fit:
    """Have the systems write, plan the comparisons, have the judges judge, wait for the ratings.

    A worker and beat have to be running. Raises DemoStalledError when nothing moves.
    """
    systems = [
        registering.register_simulated_system(
            slug=f"simulated-{voice}",
            name=f"Simulated {voice.title()}",
            family=f"simulated-{voice}",
            model_id=f"hosted_vllm/offline-{voice}",
        )
        for voice in VOICES
    ]
    judges = [
        register_simulated_judge(
            slug=f"simulated-judge-{voice}",
            name=f"Simulated judge {voice.title()}",
            family=f"simulated-{voice}",
            model_id=f"hosted_vllm/offline-judge-{voice}",
        )
        for voice in JUDGES
    ]
    with suppress(run_services.NothingToAskError):
        generation_services.start_generation_run(
            dataset=study.dataset, systems=systems, now=timezone.now()
        )
    _wait("Completions", lambda: generation_queries.generation_progress(study.dataset))
    planning_services.plan_study(study=study, now=timezone.now())
    with suppress(run_services.NothingToAskError):
        runs.start_judge_run(study=study, judges=judges, now=timezone.now())
    _wait("Judgments", lambda: study_queries.judging_progress(study))
    _wait("Ratings", lambda: _rated(study))
    fit = _newest_fit(study)
    if not ranking.Results(study, is_team=False).fits.exists():
        # The study stays open, for newcomers to judge in: of its results they see these.
        publishing.publish_fit(fit=fit, now=timezone.now())
    return fit


def ways_in(study: Study, address: str, *, now: dt.datetime) -> str:
    """Return where a newcomer goes; the demo's writer and admin are made once and found again."""
    writer = writer_queries.any_writer(study.dataset) or inviting.invite_writer(
        dataset=study.dataset, now=now
    )
    return (
        f"Judge as a guest      {address}/s/{study.slug}/\n"
        f"Write as a supporter  {address}{invitation_link(writer)}\n"
        f"Console               {address}/console/  (admin, {_admin_password()})\n"
        f"Results               {address}/results/{study.slug}/\n"
    )


def _admin_password() -> str:
    """Return the demo admin's password, generated once and kept readable for this user only."""
    file = settings.HEART_DATA_DIR / "admin-password"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(9), encoding="utf-8")
    password = file.read_text(encoding="utf-8").strip()
    if not User.objects.filter(username="admin").exists():
        User.objects.create_superuser("admin", password=password)
    return password


def _newest_fit(study: Study) -> Fit:
    fit = ranking.latest_fit(study=study, pool=EvaluatorPool.COMBINED, context_set=ContextSet.ALL)
    if fit is None:
        msg = f"there are no ratings of {study.slug}"
        raise DemoStalledError(msg)
    return fit


def _rated(study: Study) -> tuple[int, int]:
    """Return how many judgments the newest ratings rest on, and how many there are."""
    fit = ranking.latest_fit(study=study, pool=EvaluatorPool.COMBINED, context_set=ContextSet.ALL)
    n_expected = n_judgments(study=study, as_of=timezone.now())
    return fit.n_judgments if fit else 0, n_expected


def _wait(what: str, progress: Count) -> None:
    """Show progress until all is done."""
    moved_at, last = time.monotonic(), -1
    bar = tqdm(desc=what, unit="", file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)
    with bar:
        while True:
            done, total = progress()
            bar.total, bar.n = total, done
            bar.refresh()
            if done >= total:
                return
            if done != last:
                moved_at, last = time.monotonic(), done
            elif time.monotonic() - moved_at > STALLED_S:
                msg = f"{what}: stuck at {done} of {total} for {STALLED_S:.0f} s"
                raise DemoStalledError(msg)
            time.sleep(TICK_S)
