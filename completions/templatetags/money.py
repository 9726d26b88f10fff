"""Sums of money in templates."""

from decimal import ROUND_HALF_UP, Decimal

from django import template
from django.utils.formats import number_format

register = template.Library()
CENTS_FROM = Decimal("0.1")
"""Below this cents would hide too much."""


@register.filter
def usd(amount: Decimal | float | None) -> str:
    """Return a sum in US dollars: in cents, or finer where cents would hide it."""
    if amount is None:
        return ""
    exact = Decimal(str(amount))
    digits = 2 if exact >= CENTS_FROM or exact == 0 else 4
    rounded = exact.quantize(Decimal(10) ** -digits, ROUND_HALF_UP)  # number_format cuts off
    return f"${number_format(rounded, decimal_pos=digits, use_l10n=True, force_grouping=True)}"


@register.filter
def short(price: float) -> str:
    """Return a price without zeros that say nothing."""
    exact = Decimal(f"{price:.4f}").normalize()
    return str(number_format(f"{exact:f}", use_l10n=True, force_grouping=True))
