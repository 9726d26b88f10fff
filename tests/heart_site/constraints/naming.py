"""Ways to break the rules of how strategies and themes are named and checked."""

from collections.abc import Callable, Iterator
from functools import partial

from completions.choices import Presence
from tests.heart_site.constraints.preparing import calls
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    make_assistant,
    make_completion,
    make_dataset,
    make_judgment,
    make_study,
)
from tests.helpers.factories_of_calls import (
    BOOK,
    KEYS,
    make_rationale_call,
    make_spot_check,
    make_spot_check_item,
    make_strategy_call,
    make_strategy_label,
    make_theme_check,
    make_theme_check_item,
    make_theme_label,
)

PRESENT = {"presence": Presence.PRESENT, "probability": 0.9, "quote": "No wonder"}


def labels(name: str, make: Callable[..., object]) -> Iterator[Case]:
    """Yield the ways to break what every label is held to."""
    yield Case(f"{name}_presence_known", partial(make, presence="OTHER"))
    for wrong, right, which in ((1.01, 1, "above"), (-0.01, 0, "below")):
        yield Case(
            f"{name}_probability_range",
            partial(make, probability=wrong),
            partial(make, probability=right),
            which,
        )
    yield Case(
        f"{name}_present_with_quote",
        partial(make, **PRESENT | {"quote": ""}),
        partial(make, **PRESENT),
    )


CALLS = [
    Case(
        "strategycall_once_per_completion",
        twice(make_strategy_call, completion=make_completion, assistant=make_assistant),
        twice(make_strategy_call, completion=make_completion),
    ),
    *calls("strategycall", make_strategy_call, done={}),
    Case(
        "rationalecall_once_per_judgment",
        twice(make_rationale_call, judgment=make_judgment, assistant=make_assistant),
        twice(
            make_rationale_call,
            judgment=make_judgment,
            assistant=make_assistant,
            changed={"codebook": "heart-2"},
        ),
    ),
    *calls("rationalecall", make_rationale_call, done={}),
]

LABELS = [
    Case(
        "strategylabel_once",
        twice(make_strategy_label, call=make_strategy_call),
        twice(make_strategy_label, call=make_strategy_call, changed={"strategy": KEYS[1]}),
    ),
    *labels("strategylabel", make_strategy_label),
    Case(
        "themelabel_once",
        twice(make_theme_label, call=make_rationale_call),
        twice(make_theme_label, call=make_rationale_call, changed={"theme": BOOK.keys[1]}),
    ),
    *labels("themelabel", make_theme_label),
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

THEME_CHECKS = [
    Case(
        "themecheck_once",
        twice(make_theme_check, study=make_study, assistant=make_assistant),
        twice(make_theme_check, study=make_study, assistant=make_assistant, changed={"seed": "2"}),
    ),
    Case("themecheck_seed_given", partial(make_theme_check, seed="")),
    Case(
        "themecheckitem_judgment_once",
        twice(
            make_theme_check_item,
            spot_check=make_theme_check,
            judgment=make_judgment,
            changed={"position": 1},
        ),
        twice(make_theme_check_item, spot_check=make_theme_check, changed={"position": 1}),
    ),
    Case(
        "themecheckitem_position_once",
        twice(make_theme_check_item, spot_check=make_theme_check),
        twice(make_theme_check_item),
    ),
]

CASES = [*CALLS, *LABELS, *CHECKS, *THEME_CHECKS]
