"""Builders of rows about strategies of support: what a model named, and what people found."""

from typing import Any

from django.contrib.auth.models import User

from completions.choices import CallState, Presence
from completions.models import (
    Assistant,
    Completion,
    Dataset,
    HumanLabelling,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
)
from completions.strategies import rules
from tests.factories import (
    NOW,
    make_assistant,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
)
from tests.factories_written_once import make_member, make_user

DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}
REFERENCE = "heart-1"
KEYS = rules.load_codebook(REFERENCE).keys


def make_strategy_call(**fields: Any) -> StrategyCall:
    completion = fields.pop("completion", None) or make_completion()
    assistant = fields.pop("assistant", None) or make_assistant()
    return StrategyCall.objects.create(
        completion=completion, assistant=assistant, **{"created_at": NOW} | fields
    )


def make_strategy_label(**fields: Any) -> StrategyLabel:
    call = fields.pop("call", None) or make_strategy_call(**DONE)
    said = {"strategy": KEYS[0], "presence": Presence.ABSENT, "probability": 0.1}
    return StrategyLabel.objects.create(call=call, **said | fields)


def make_spot_check(**fields: Any) -> SpotCheck:
    dataset = fields.pop("dataset", None) or make_dataset()
    assistant = fields.pop("assistant", None) or make_assistant()
    return SpotCheck.objects.create(
        dataset=dataset,
        assistant=assistant,
        **{"codebook": REFERENCE, "seed": "1", "created_at": NOW} | fields,
    )


def make_spot_check_item(**fields: Any) -> SpotCheckItem:
    check = fields.pop("spot_check", None) or make_spot_check()
    completion = fields.pop("completion", None) or make_labelled(check.dataset, check.assistant)
    return SpotCheckItem.objects.create(
        spot_check=check, completion=completion, **{"position": 0} | fields
    )


def make_human_labelling(**fields: Any) -> HumanLabelling:
    item = fields.pop("item", None) or make_spot_check_item()
    labeller = fields.pop("labeller", None) or make_user()
    return HumanLabelling.objects.create(
        item=item, labeller=labeller, **{"strategies": [], "labelled_at": NOW} | fields
    )


def make_labelled(
    dataset: Dataset, assistant: Assistant, *present: str, **fields: Any
) -> Completion:
    """A completion in which the assistant found these strategies present."""
    context = make_context(dialogue=make_dialogue(dataset=dataset))
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
