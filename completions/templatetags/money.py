"""Sums of money in templates."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format

register = template.Library()


@register.filter
def usd(amount: Decimal | float | None) -> str:
    """Return a sum in US dollars: in cents, or finer where cents would hide it."""
    if amount is None:
        return ""
    exact = Decimal(str(amount))
    digits = 2 if exact >= 1 or exact == 0 else 4
    return f"${number_format(exact, decimal_pos=digits, use_l10n=True, force_grouping=True)}"
