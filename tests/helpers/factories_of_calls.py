"""Builders of runs and calls, and of labels of strategies and themes."""

import datetime as dt
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from annotation.choices import TextOutcome, TextState
from annotation.models import (
    JudgeRun,
    Judgment,
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    Study,
    ThemeCheck,
    ThemeCheckItem,
    ThemeLabel,
    ThemeLabelling,
)
from annotation.rationales import passages, themes
from completions.choices import CallState, Presence, RunState
from completions.generation import services as generating
from completions.models import (
    Assistant,
    Completion,
    Dataset,
    GenerationCall,
    GenerationRun,
    HumanLabelling,
    LabellingRun,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
    System,
)
from completions.runs.services import budgeting, calling
from completions.strategies import codebook
from tests.helpers.factories import (
    CREATED,
    NOW,
    make_assistant,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_generation_call,
    make_judgment,
    make_study,
    make_system,
    saved,
)
from tests.helpers.factories_written_once import make_member, make_user

PRICE = {"input": 1.0, "output": 10.0}
"""US dollars for a million tokens."""
DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}
NOT_FOUND = {"presence": Presence.ABSENT, "probability": 0.1}


def planned(**whose: Dataset | Study) -> dict[str, Any]:
    """What a run of a dataset or a study usually says."""
    return CREATED | whose | {"plan": {kind: one.slug for kind, one in whose.items()}}


def make_generation_run(**fields: Any) -> GenerationRun:
    dataset = fields.pop("dataset", None) or make_dataset()
    return saved(GenerationRun, fields, planned(dataset=dataset))


def make_labelling_run(**fields: Any) -> LabellingRun:
    dataset = fields.pop("dataset", None) or make_dataset()
    return saved(LabellingRun, fields, planned(dataset=dataset))


def make_judge_run(**fields: Any) -> JudgeRun:
    study = fields.pop("study", None) or make_study()
    return saved(JudgeRun, fields, planned(study=study))


def make_priced(**fields: Any) -> System:
    """Return a simulated system whose calls have a price."""
    n = System.objects.count()
    wanted = {"name": f"Simulated {n}", "parameters": {"price": PRICE}} | fields
    return make_system(is_simulated=True, model_id="hosted_vllm/offline-alder", **wanted)


def make_run_of(n: int, *, budget: str | None = None, **fields: Any) -> GenerationRun:
    """Return a run with so many waiting calls of one priced system."""
    run = make_generation_run(
        n_planned=n, budget_usd=None if budget is None else Decimal(budget), **fields
    )
    system = make_priced()
    for _ in range(n):
        make_generation_call(run=run, system=system)
    return run


def most_of_one() -> Decimal:
    """Return the most that a call of the builders can cost."""
    call = make_generation_call(system=make_priced())
    question = generating.CompletionCalls().question(call, calling.Claim(call.pk, NOW, 1))
    call.delete()
    return budgeting.most_usd(question.request, PRICE)


def make_call_in_flight(
    run: GenerationRun, reserved: str = "0.01", **fields: Any
) -> GenerationCall:
    """Return a claimed call, with what it holds of the run's money."""
    call = make_generation_call(
        run=run,
        **{"state": CallState.CLAIMED, "claimed_at": NOW, "attempts": 1}
        | {"reserved_usd": Decimal(reserved)}
        | fields,
    )
    run.reserved_usd += call.reserved_usd
    run.save(update_fields=["reserved_usd"])
    return call


REFERENCE = "heart-1"
KEYS = codebook.load_codebook(REFERENCE).keys


def make_strategy_call(**fields: Any) -> StrategyCall:
    return saved(
        StrategyCall, fields, CREATED, completion=make_completion, assistant=make_assistant
    )


def make_strategy_label(**fields: Any) -> StrategyLabel:
    usual = {"strategy": KEYS[0]} | NOT_FOUND
    return saved(StrategyLabel, fields, usual, call=partial(make_strategy_call, **DONE))


def make_spot_check(**fields: Any) -> SpotCheck:
    usual = CREATED | {"codebook": REFERENCE, "seed": "1"}
    return saved(SpotCheck, fields, usual, dataset=make_dataset, assistant=make_assistant)


def make_spot_check_item(**fields: Any) -> SpotCheckItem:
    check = fields.pop("spot_check", None) or make_spot_check()
    labelled = partial(make_labelled, check.dataset, check.assistant)
    usual = {"spot_check": check, "position": 0}
    return saved(SpotCheckItem, fields, usual, completion=labelled)


def make_human_labelling(**fields: Any) -> HumanLabelling:
    usual = {"strategies": [], "labelled_at": NOW}
    return saved(HumanLabelling, fields, usual, item=make_spot_check_item, labeller=make_user)


def make_labelled(
    dataset: Dataset, assistant: Assistant, *present: str, **fields: Any
) -> Completion:
    """A completion in which the assistant found these strategies present."""
    context = make_context(dataset=dataset)
    completion = make_completion(context=context, **fields)
    call = make_strategy_call(completion=completion, assistant=assistant, **DONE)
    for key in present:
        make_strategy_label(
            call=call, strategy=key, presence=Presence.PRESENT, probability=0.9, quote="weighs"
        )
    return completion


def make_sampled(n: int = 2, *, dataset: Dataset | None = None) -> SpotCheck:
    """A spot check of so many items, in each of which the model found the first strategy."""
    check = make_spot_check(dataset=dataset or make_dataset())
    for position in range(n):
        make_spot_check_item(
            spot_check=check,
            completion=make_labelled(check.dataset, check.assistant, KEYS[0]),
            position=position,
        )
    return check


def make_person(name: str) -> User:
    """A member of staff of that name."""
    return make_member(name)


def label(check: SpotCheck, person: User, *found: list[str]) -> None:
    """Store what a person found in the items, from the first on."""
    for item, keys in zip(check.items.order_by("position"), found, strict=False):
        make_human_labelling(item=item, labeller=person, strategies=keys)


def make_labelled_by_two() -> SpotCheck:
    """A spot check of one item that two people have labelled, alike."""
    check = make_sampled(1)
    for _ in range(2):
        label(check, make_user(), [KEYS[0]])
    return check


BOOK = themes.load_codebook("heart-1")
PRESENT = {"presence": Presence.PRESENT, "probability": 0.9}


def make_rationale_run(**fields: Any) -> RationaleRun:
    study = fields.pop("study", None) or make_study()
    return saved(RationaleRun, fields, planned(study=study))


def make_rationale_call(**fields: Any) -> RationaleCall:
    judgment = fields.pop("judgment", None) or make_judgment()
    run = partial(make_rationale_run, study=judgment.comparison.study)
    usual = CREATED | {"judgment": judgment, "codebook": BOOK.reference}
    return saved(RationaleCall, fields, usual, assistant=make_assistant, run=run)


def make_theme_label(**fields: Any) -> ThemeLabel:
    usual = {"theme": BOOK.keys[0]} | NOT_FOUND
    return saved(ThemeLabel, fields, usual, call=partial(make_rationale_call, **DONE))


def make_theme_check(**fields: Any) -> ThemeCheck:
    usual = CREATED | {"codebook": BOOK.reference, "seed": "1"}
    return saved(ThemeCheck, fields, usual, study=make_study, assistant=make_assistant)


def make_theme_check_item(**fields: Any) -> ThemeCheckItem:
    check = fields.pop("spot_check", None) or make_theme_check()
    usual = {"spot_check": check, "position": 0}
    return saved(ThemeCheckItem, fields, usual, judgment=lambda: judged_warm(check.study))


def judged_warm(study: Study) -> Judgment:
    return make_judgment(comparison=make_comparison(study=study), rationale="Warm.")


def make_theme_labelling(**fields: Any) -> ThemeLabelling:
    usual = {"themes": [], "labelled_at": NOW}
    return saved(ThemeLabelling, fields, usual, item=make_theme_check_item, labeller=make_user)


def make_themed_by_two() -> ThemeCheck:
    """A sample of one rationale in which two people have found the same theme."""
    item = make_theme_check_item()
    for _ in range(2):
        make_theme_labelling(item=item, themes=[BOOK.keys[0]])
    return item.spot_check


def make_coded(
    judgment: Judgment, assistant: Assistant, *present: str, **fields: Any
) -> RationaleCall:
    """Store a whole answer on a judgment's rationale: these themes are present, others not."""
    call = make_rationale_call(judgment=judgment, assistant=assistant, **DONE | fields)
    for key in BOOK.keys:
        said = PRESENT | {"quote": "names"} if key in present else {}
        make_theme_label(call=call, theme=key, **said)
    return call


def code_all(study: Study, coder: Assistant, *, at: dt.datetime) -> None:
    """Store that the coder found warmth in every rationale, in a run that is over."""
    run = make_rationale_run(study=study, state=RunState.ENDED, ended_at=at)
    for judgment in Judgment.objects.filter(comparison__study=study):
        make_coded(judgment, coder, "warmth", run=run, ended_at=at)


def make_scan(**fields: Any) -> RationaleScan:
    """A scan that found nothing, unless the fields say otherwise."""
    judgment = fields.pop("judgment", None) or make_judgment()
    usual = {
        "judgment": judgment,
        "rules": passages.version(),
        "text_hash": passages.digest(judgment.rationale),
        "state": TextState.CLEAN,
        "scanned_at": NOW,
    }
    return saved(RationaleScan, fields, usual)


def make_text_decision(**fields: Any) -> RationaleDecision:
    usual = {"outcome": TextOutcome.WITHHELD, "decided_at": NOW}
    return saved(RationaleDecision, fields, usual, judgment=make_judgment)
