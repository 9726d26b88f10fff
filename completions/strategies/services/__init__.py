"""Writes of strategies; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.strategies.services.labelling import (
        forget_labels,
        name_strategies,
        plan_strategy_calls,
        start_labelling_run,
    )
    from completions.strategies.services.spot_checking import (
        LabellingClosedError,
        LabellingOpenError,
        NothingToSettleError,
        NotLabelledYetError,
        TwoLabellersError,
        UnknownStrategyError,
        adjudicate,
        draw,
        draw_sample,
        label_item,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "LabellingClosedError",
    "LabellingOpenError",
    "NotLabelledYetError",
    "NothingToSettleError",
    "TwoLabellersError",
    "UnknownStrategyError",
    "adjudicate",
    "draw",
    "draw_sample",
    "forget_labels",
    "label_item",
    "name_strategies",
    "plan_strategy_calls",
    "start_labelling_run",
]
