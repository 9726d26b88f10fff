"""Hold the simulated study: contexts, texts, judges, a crowd, labels, ratings, release.

Each step finds what an earlier run left and adds what is missing, so that running it again goes
on where it was stopped.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.judges.services import runs as judges_runs
from annotation.judges.services.registering import register_simulated_judge
from annotation.management.commands import judges as judge_command
from annotation.management.commands import rationales as rationale_command
from annotation.models import JudgeRun, RationaleRun, Study
from annotation.planning import services as planning_services
from annotation.rationales.services import labelling as rationales_labelling
from annotation.studies import queries as study_queries
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.studies.services.shadow_studies import Rehearsal, make_shadow_study
from completions.choices import MessageState, MessageVerdict, RunState
from completions.contexts.services import building, rewriting
from completions.contexts.services.rewrite_planning import Assistants
from completions.dialogues import importing
from completions.dialogues import queries as dialogue_queries
from completions.dialogues.ingest.files import read_dialogues
from completions.generation import services as generation_services
from completions.management.acting import Progress
from completions.management.assisting import answering
from completions.management.commands import completions as generating
from completions.management.commands import strategies as strategy_actions
from completions.management.run_actions import Kind, work
from completions.models import Context, Dataset, GenerationRun, LabellingRun, Message, Run
from completions.offline import planted
from completions.runs.queries import calls_of
from completions.runs.services import calling
from completions.runs.services import running as run_services
from completions.strategies.services import labelling as strategies_labelling
from completions.strategies.services import spot_checking
from completions.systems.services import registering
from completions.writers.importing import WrittenRow
from completions.writers.services import review_decisions
from completions.writers.services.importing import import_messages
from heart_site.demo.paper import labelling, planting
from heart_site.demo.paper.planting import TEXTS_PER_CONTEXT
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.answering import plant_texts
from heart_site.demo.rehearsal.people import draw_population
from heart_site.demo.rehearsal.rehearsing import Cast, rehearse
from heart_site.demo.rehearsal.reporting import BEGAN
from ranking.raters import services as rater_services


@dataclass(frozen=True)
class Size:
    """How large the study is."""

    regular: int
    adversarial: int
    pairs_per_context: int
    judgments_per_pair: int
    raters: int
    session: int
    rationales: int
    checked: int
    ideal_contexts: int


FULL = Size(
    regular=280,
    adversarial=20,
    pairs_per_context=28,
    judgments_per_pair=5,
    raters=350,
    session=200,
    rationales=3000,
    checked=300,
    ideal_contexts=4000,
)
SMALL = Size(
    regular=10,
    adversarial=4,
    pairs_per_context=19,
    judgments_per_pair=3,
    raters=24,
    session=40,
    rationales=60,
    checked=30,
    ideal_contexts=60,
)
SIZES = {"full": FULL, "small": SMALL}


NAME = "paper"
SEED = 7
N_WRITERS = 12


@dataclass
class Paper:
    """The study as it is being made."""

    size: Size
    file: Path
    is_authored: bool
    progress: Progress
    clock: Callable[[], dt.datetime] = field(default=timezone.now)

    def hold(self) -> Study:
        """Make whatever is missing up to the labels, and return the study of the crowd.

        Raises
        ------
        completions.dialogues.ingest.dialogue.IngestError
            If the file cannot be read as dialogues; nothing is stored then.
        completions.contexts.selection.SelectionError
            If it has too few fitting turns.
        completions.contexts.services.rewrite_planning.NoSourceLeftError
            If it has too few contexts that can be made adversarial.
        """
        dataset = self._contexts()
        self._texts(dataset)
        shadow = self._plan(dataset)
        self._judge(shadow)
        self._crowd(shadow)
        self._label(dataset, shadow)
        return states.close_study(study=shadow, now=self.clock())

    def _contexts(self) -> Dataset:
        """Import the dialogues, and choose and make the contexts."""
        self.progress.say("Contexts")
        importing.import_dialogues(
            dataset_name=NAME,
            dialogues=read_dialogues(self.file),
            now=self.clock(),
            is_authored=self.is_authored,
        )
        building.build_contexts(dataset_name=NAME, n=self.size.regular, seed=SEED, now=self.clock())
        dataset = dialogue_queries.dataset_named(NAME)
        assistants = Assistants(
            rewriter=registering.assistant_for("rewriter", registering.OFFLINE),
            hostility_rater=registering.assistant_for("hostility-rater", registering.OFFLINE),
        )
        with answering(assistants.rewriter):
            rewriting.make_adversarial_contexts(
                dataset=dataset,
                n=self.size.adversarial,
                seed=SEED,
                assistants=assistants,
                clock=self.clock,
            )
        return dataset

    def _texts(self, dataset: Dataset) -> None:
        """Have the simulated people write, then the simulated systems."""
        self.progress.say("Messages by simulated people and systems")
        import_messages(
            dataset=dataset, rows=_written(dataset), now=self.clock(), are_accepted=True
        )
        for message in Message.objects.filter(
            lease__context__dataset=dataset, state=MessageState.WAITING
        ):
            review_decisions.decide_message(
                message=message,
                verdict=MessageVerdict.ACCEPTED,
                note="",
                by=None,
                now=self.clock(),
            )
        systems = [
            registering.register_simulated_system(
                slug=one.slug,
                name=one.name,
                family=one.family,
                model_id=one.model_id,
                facts=one.facts,
            )
            for one in planting.models()
        ]
        with suppress(run_services.NothingToAskError):
            generation_services.start_generation_run(
                dataset=dataset, systems=systems, now=self.clock()
            )
        self._work_off(generating.KIND, GenerationRun.objects.filter(dataset=dataset))

    def _plan(self, dataset: Dataset) -> Study:
        """Plan the comparisons, and return the simulated study of them."""
        self.progress.say("Comparisons")
        study = study_queries.study_by_slug(NAME) or self._create(dataset)
        planning_services.plan_study(study=study, now=self.clock())
        return make_shadow_study(study=study, rehearsal=self._rehearsal, now=self.clock() - BEGAN)

    @property
    def _rehearsal(self) -> Rehearsal:
        return Rehearsal(self.size.raters, SEED, self.size.judgments_per_pair)

    def _create(self, dataset: Dataset) -> Study:
        protocol = load_protocol(STUDIES / "heart-preference.toml").model_copy(
            update={
                "slug": NAME,
                "title": "The HEART study, simulated",
                "pairs_per_context": self.size.pairs_per_context,
                "judgments_per_pair": self.size.judgments_per_pair,
                "session_length": self.size.session,
                "source_guesses": 0,
            }
        )
        study = drafts.create_study(
            protocol=protocol,
            rubric=load_rubric(protocol.rubric),
            dataset=dataset,
            now=self.clock(),
        )
        return states.lock_study(study=study, now=self.clock())

    def _judge(self, shadow: Study) -> None:
        """Have the simulated judges judge every pair in both orders."""
        self.progress.say("Simulated judges")
        judges = [
            register_simulated_judge(
                slug=f"simulated-judge-{family}",
                name=f"Simulated {planting.JUDGE_NAMES[family]} judge",
                family=family,
                model_id=f"hosted_vllm/{judge.name}",
            )
            for family, judge in planting.JUDGES.items()
        ]
        with suppress(run_services.NothingToAskError):
            judges_runs.start_judge_run(
                study=shadow,
                judges=judges,
                asking=judges_runs.Asking(both_orders=True),
                now=self.clock(),
            )
        self._work_off(judge_command.KIND, JudgeRun.objects.filter(study=shadow))

    def _crowd(self, shadow: Study) -> None:
        """Have the crowd judge, and hold it against the study's rules."""
        self.progress.say("Simulated raters")
        cast = self.cast(shadow)
        with self.progress.towards("simulated raters") as tell:
            rehearse(study=shadow, cast=cast, tell=tell)
        rater_services.review_raters(study=shadow, dry_run=False, now=self.clock())

    def cast(self, shadow: Study) -> Cast:
        """Return who judges, and how good each text is."""
        crowd = planting.CROWD
        people = draw_population(n=self.size.raters, seed=SEED, crowd=crowd)
        written, known = evidence.texts_of(shadow)
        truth = plant_texts(
            written, planting.strengths(), known=known, seed=SEED, lift=planting.lift
        )
        return Cast(people, truth, SEED, crowd)

    @staticmethod
    def originals(shadow: Study) -> list[str]:
        """Return the original replies, which nobody planted, as people read them."""
        written, _known = evidence.texts_of(shadow)
        return [text for text, slug in written if slug == planting.ORIGINAL_SLUG]

    def _label(self, dataset: Dataset, shadow: Study) -> None:
        """Have strategies and themes labelled, and samples of both checked."""
        self.progress.say("Labels and spot checks")
        strategist = registering.assistant_for("strategist", registering.OFFLINE)
        with suppress(run_services.NothingToAskError):
            strategies_labelling.start_labelling_run(
                dataset=dataset, assistant=strategist, now=self.clock()
            )
        self._work_off(strategy_actions.KIND, LabellingRun.objects.filter(dataset=dataset))
        coder = registering.assistant_for("coder", registering.OFFLINE)
        if not RationaleRun.objects.filter(study=shadow).exists():
            rationales_labelling.start_rationale_run(
                study=shadow, assistant=coder, now=self.clock(), most=self.size.rationales
            )
        self._work_off(rationale_command.KIND, RationaleRun.objects.filter(study=shadow))
        drawn: dict[str, Any] = {"seed": str(SEED), "n": self.size.checked, "now": self.clock()}
        for sample in (
            spot_checking.draw_sample(dataset=dataset, assistant=strategist, **drawn),
            rationales_labelling.draw_theme_sample(study=shadow, assistant=coder, **drawn),
        ):
            labelling.check(sample, now=self.clock())

    def _work_off(self, kind: Kind, runs: Any) -> None:  # noqa: ANN401 (runs of any kind)
        """Make the calls of runs that have not ended; a killed process holds none of them."""
        run: Run
        for run in runs.filter(state=RunState.RUNNING):
            calling.forget_claims(calls_of(run))
            work(kind, run, self.progress)


def _written(dataset: Dataset) -> Iterator[WrittenRow]:
    """Yield three messages by simulated writers for each context; every writer has as many."""
    shares = planting.human_shares()
    contexts = Context.objects.in_use().filter(dataset=dataset).order_by("key")
    for place, context in enumerate(contexts):
        seeker = [turn["text"] for turn in context.turns if turn["role"] == "seeker"]
        for number in range(TEXTS_PER_CONTEXT):
            author = f"Simulated writer {(TEXTS_PER_CONTEXT * place + number) % N_WRITERS + 1:02d}"
            text = planted.write(shares, seeker, draw=f"{author}\n{context.key}")
            yield WrittenRow(
                TEXTS_PER_CONTEXT * place + number + 1, context.key, text, author, "CROWD"
            )
