"""The study that is judged, made inside the database, and what has to hold of it after a run."""

import datetime as dt
from collections.abc import Collection, Iterator

from django.db.models import Count, F, IntegerField, Q, Value
from django.db.models.functions import Abs, Cast, Concat, Random

from annotation.assignment import design
from annotation.choices import Purpose
from annotation.models import Comparison, Judgment, Study
from annotation.studies import rubric
from annotation.studies.protocol import files
from annotation.studies.protocol.parts import Screening
from benchmarks.refit_rows import Size, pair, unchecked
from completions.choices import LeaseOutcome
from completions.dialogues import normaliser
from completions.models import Completion, Context
from tests.helpers.factories import TURNS, make_comparison, make_quality_check, make_study

N_EACH = 5
N_SYSTEMS, PER_CONTEXT = 20, 150
N_CHECKS = 20
N_TURNS = 15  # three in four of the published dialogues' couplets have about as many before them
SESSION = 5000  # pairs: nobody gets to the end
SLUG = "load"


def make_loaded_study(n_comparisons: int, *, now: dt.datetime) -> Study:
    """Make an open study of the published protocol, with planted pairs and questions at the start.

    Raters judge without a first round: which answers are right in it only its own pairs tell.
    """
    file = files.load_protocol(files.STUDIES / "heart-preference.toml")
    file = file.model_copy(update={"screening": Screening(), "session_length": SESSION})
    words = rubric.load_rubric(file.rubric).content()
    study = make_study(
        slug=SLUG,
        name=SLUG,
        title=file.title,
        content=file.content(words, normaliser=normaliser.VERSION),
        session_length=SESSION,
        min_rationale_length=file.min_rationale_length,
        judgments_per_pair=N_EACH,
        locked_at=now,
    )
    for _check in range(N_CHECKS):
        planted = make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0)
        make_quality_check(comparison=planted)
    with unchecked():
        pair(study, Size(n_comparisons * N_EACH, N_SYSTEMS, max(1, n_comparisons // PER_CONTEXT)))
        anywhere = Cast(Random() * design.POSITIONS, IntegerField())
        main = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
        main.update(slots_left=N_EACH, position=anywhere)
        dialogue = [TURNS[n % 2] for n in range(N_TURNS)]
        Context.objects.update(turns=dialogue)
        Completion.objects.update(text=Concat(F("text"), Value(" What helps you through?")))
    return study


def right_answers(study: Study) -> dict[str, str]:
    """Return what the form of the study's questions has to be sent to go on."""
    questions = study.content["comprehension"]
    return {f"question_{place}": str(row["answer"] - 1) for place, row in enumerate(questions)}


MAIN = Q(leases__quality_check=None, leases__repeats=None)


def broken(study: Study, acknowledged: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield each rule with the number of rows that break it.

    ``acknowledged`` are the tokens of the answers that the site said it had.
    """
    main = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
    counted = Q(judgments__is_surplus=False, judgments__revises=None) & Q(
        judgments__lease__quality_check=None, judgments__lease__repeats=None
    )
    judged = main.annotate(n=Count("judgments", filter=counted))
    yield "comparisons over their quota", judged.filter(n__gt=study.judgments_per_pair).count()
    held = MAIN & Q(leases__outcome__in=("", LeaseOutcome.SUBMITTED))
    leased = main.annotate(n=Count("leases", filter=held))
    wrong = leased.exclude(slots_left=study.judgments_per_pair - F("n"))
    yield "comparisons whose free slots are miscounted", wrong.count()
    judgments = Judgment.objects.filter(comparison__study=study, revises=None)
    counting = judgments.filter(lease__quality_check=None, lease__repeats=None)
    twice = counting.values("rater", "comparison").annotate(n=Count("pk")).filter(n__gt=1)
    yield "raters twice on a comparison", twice.count()
    stored = {str(token) for token in judgments.values_list("lease__token", flat=True)}
    yield "acknowledged answers that are missing", len(set(acknowledged) - stored)
    apart = Abs(F("shown_first_as_a") - F("shown_first_as_b"))
    yield "pairs whose sides are out of balance", main.annotate(d=apart).filter(d__gt=1).count()
