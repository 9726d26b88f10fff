"""What the address of the sample-size planner asks for."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from ranking.choices import EvaluatorPool
from ranking.planner.queries import Measured

if TYPE_CHECKING:
    from ranking.numerics.planning.needs import Wish
    from ranking.planner.plans import Rates

POOLS = {"people": EvaluatorPool.HUMAN, "judges": EvaluatorPool.LLM}
DEFAULTS = {
    "pool": "people",
    "elo": 20.0,
    "power": 0.8,
    "level": 0.05,
    "together": "each",
    "pay": None,
    "price": None,
    "rho": 0.2,
}


class Question(forms.Form):
    """How small a difference is to be found, how surely, and what a judgment costs."""

    pool = forms.ChoiceField(
        label=_("Judged by"),
        choices=(("people", _("people")), ("judges", _("LLM judges"))),
        required=False,
    )
    elo = forms.FloatField(
        label=_("Difference of neighbours, Elo"), min_value=0.1, max_value=1000, required=False
    )
    power = forms.FloatField(label=_("Power"), min_value=0.5, max_value=0.999, required=False)
    level = forms.FloatField(
        label=_("Level (false findings)"), min_value=0.0001, max_value=0.2, required=False
    )
    together = forms.ChoiceField(
        label=_("The level holds for"),
        choices=(("each", _("each pair by itself")), ("all", _("all pairs together"))),
        required=False,
    )
    pay = forms.FloatField(
        label=_("Pay of people per hour"), min_value=0, max_value=100_000, required=False
    )
    price = forms.FloatField(
        label=_("or price of a judgment"), min_value=0, max_value=100_000, required=False
    )
    rho = forms.FloatField(
        label=_("Correlation of judgments of one pair"), min_value=0, max_value=1, required=False
    )

    def asked(self) -> "Asked":
        """Return what a valid form asks for; what is left out is as `DEFAULTS` has it."""
        given = {
            name: self.cleaned_data[name]
            for name in DEFAULTS
            if self.cleaned_data.get(name) not in (None, "")
        }
        return Asked(**{**DEFAULTS, **given})


@dataclass(frozen=True)
class Asked:
    """What is asked of the planner; ``level`` is the share of false findings."""

    pool: str
    elo: float
    power: float
    level: float
    together: str
    pay: float | None
    price: float | None
    rho: float

    @property
    def evaluators(self) -> EvaluatorPool:
        """Return whose judgments are meant."""
        return POOLS[self.pool]

    @property
    def wish(self) -> "Wish":
        """Return what is wanted, in natural-log units."""
        from ranking.numerics.elo import ELO_PER_LOG_UNIT  # noqa: PLC0415 (loads NumPy)
        from ranking.numerics.planning.needs import Wish  # noqa: PLC0415 (as above)

        return Wish(
            difference=self.elo / ELO_PER_LOG_UNIT,
            power=self.power,
            level=1.0 - self.level,
            is_joint=self.together == "all",
        )

    def rates(self, measured: Measured) -> "Rates":
        """Return what a judgment takes: as priced, or else as measured in the study."""
        from ranking.planner.plans import SECONDS_AN_HOUR, Rates  # noqa: PLC0415 (loads NumPy)

        if self.pool == "judges":
            return Rates(price=measured.call_usd if self.price is None else self.price)
        price = self.price
        if price is None and self.pay is not None and measured.seconds is not None:
            price = self.pay * measured.seconds / SECONDS_AN_HOUR
        is_known = measured.per_person is not None and math.isfinite(measured.per_person)
        return Rates(price, measured.seconds, measured.per_person if is_known else None)
