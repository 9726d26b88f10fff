"""Ways to break the rules of how strategies are named and checked."""

from functools import partial

from completions.choices import Presence
from tests.db.constraints.preparing import calls
from tests.db.constraints.rules import Case, twice
from tests.factories import make_assistant, make_completion, make_dataset
from tests.factories_of_strategies import (
    KEYS,
    make_spot_check,
    make_spot_check_item,
    make_strategy_call,
    make_strategy_label,
)

PRESENT = {"presence": Presence.PRESENT, "probability": 0.9, "quote": "No wonder"}

CALLS = [
    Case(
        "strategycall_once_per_completion",
        twice(make_strategy_call, completion=make_completion, assistant=make_assistant),
        twice(make_strategy_call, completion=make_completion),
    ),
    *calls("strategycall", make_strategy_call, done={}),
]

LABELS = [
    Case(
        "strategylabel_once",
        twice(make_strategy_label, call=make_strategy_call),
        twice(make_strategy_label, call=make_strategy_call, changed={"strategy": KEYS[1]}),
    ),
    Case("strategylabel_presence_known", partial(make_strategy_label, presence="OTHER")),
    Case(
        "strategylabel_probability_range",
        partial(make_strategy_label, probability=1.01),
        partial(make_strategy_label, probability=1),
        "above",
    ),
    Case(
        "strategylabel_probability_range",
        partial(make_strategy_label, probability=-0.01),
        partial(make_strategy_label, probability=0),
        "below",
    ),
    Case(
        "strategylabel_present_with_quote",
        partial(make_strategy_label, **PRESENT | {"quote": ""}),
        partial(make_strategy_label, **PRESENT),
    ),
]

CHECKS = [
    Case(
        "spotcheck_once",
        twice(make_spot_check, dataset=make_dataset, assistant=make_assistant),
        twice(
            make_spot_check,
            dataset=make_dataset,
            assistant=make_assistant,
            changed={"seed": "2"},
        ),
    ),
    Case("spotcheck_seed_given", partial(make_spot_check, seed="")),
    Case(
        "spotcheckitem_completion_once",
        twice(
            make_spot_check_item,
            spot_check=make_spot_check,
            completion=make_completion,
            changed={"position": 1},
        ),
        twice(make_spot_check_item, spot_check=make_spot_check, changed={"position": 1}),
    ),
    Case(
        "spotcheckitem_position_once",
        twice(make_spot_check_item, spot_check=make_spot_check),
        twice(make_spot_check_item),
    ),
]

CASES = [*CALLS, *LABELS, *CHECKS]
