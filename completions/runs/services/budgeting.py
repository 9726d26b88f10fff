"""What calls may cost: reserved from a run's budget before they are made, settled afterwards.

A reservation is the most that a call can cost. Under the lock of the run's row the money spent
and the money reserved never exceed the budget together, however many workers there are.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import ROUND_UP, Decimal
from typing import Any, Protocol

from django.db.models import F
from django.db.models.functions import Round

from completions import llm
from completions.models import ProviderCall
from completions.runs.queries import run_rows

CENT_DIGITS = 6
CENT = Decimal(1).scaleb(-CENT_DIGITS)
"""The smallest sum that is counted: a millionth of a dollar."""
MESSAGE_TOKENS = 16
"""What a provider may add to each message: its role and what sets it apart."""
CORRECTION_TOKENS = 2000
"""What is said before an answer is asked for again, beside the first one."""
NOTHING = {"input": 0.0, "output": 0.0}

Price = Mapping[str, float]


class UnknownPriceError(ValueError):
    """A budget cannot be kept with a model of which nobody says what a call costs at most."""


class Priced(Protocol):
    """What a system, a judge and an assistant have in common."""

    slug: str
    model_id: str
    api_base: str
    parameters: Any
    is_simulated: bool


def price_of(endpoint: Priced) -> Price | None:
    """Return what a million tokens cost each way, in US dollars, or None if nobody says so.

    The price in the endpoint's own parameters comes before what LiteLLM lists, which holds at the
    provider's own address alone. Who is simulated costs nothing, unless a price is set.
    """
    parameters = endpoint.parameters
    if (own := parameters.get("price")) is not None:
        return {way: float(own[way]) for way in NOTHING}
    if endpoint.is_simulated:
        return NOTHING
    if endpoint.api_base or parameters.get("api_base_env"):
        return None
    return llm.listed_price(endpoint.model_id)


def price_at_most(endpoint: Priced) -> Price | None:
    """Return the price if it says what a call costs at most, or None if nobody can say that.

    An answer whose length is not limited may cost any sum, unless it is free.
    """
    price = price_of(endpoint)
    is_limited = "max_tokens" not in endpoint.parameters.get("leave_out", ())
    return price if is_limited or not any((price or NOTHING).values()) else None


def refuse_unknown_prices(endpoints: Iterable[Priced]) -> None:
    """Raise UnknownPriceError if nobody can say what calls cost at most; the error names whose."""
    if unpriced := sorted(one.slug for one in endpoints if price_at_most(one) is None):
        msg = (
            "a budget needs to know the most that a call can cost, and nobody can say it for "
            f"{', '.join(unpriced)}: set `price` in their parameters, keep `max_tokens` out of "
            "`leave_out`, or give no budget"
        )
        raise UnknownPriceError(msg)


def most_usd(request: llm.Request, price: Price, *, tries: int = 1) -> Decimal:
    """Return the most that asking can cost, rounded up.

    Each further try sends the question again, with the answer before it.
    """
    prompt, answer = most_prompt_tokens(request), request.max_tokens
    further = tries * (tries - 1) // 2 * (answer + CORRECTION_TOKENS)
    each = {way: Decimal(str(price[way])) for way in NOTHING}
    usd = (tries * prompt + further) * each["input"] + tries * answer * each["output"]
    return (usd * CENT).quantize(CENT, ROUND_UP)


def most_prompt_tokens(request: llm.Request) -> int:
    """Return an upper bound of the tokens of a question: no tokenizer makes more than bytes."""
    texts = [message["content"] for message in request.messages]
    texts.append(request.opening)
    if request.response_schema is not None:
        texts.append(json.dumps(request.response_schema))
    n_bytes = sum(len(text.encode(errors="surrogatepass")) for text in texts)
    return n_bytes + MESSAGE_TOKENS * (len(request.messages) + 2)


def settle(ended: Iterable[tuple[ProviderCall, Decimal | None]]) -> None:
    """Count what calls have cost, and give back the rest of what was reserved for them.

    Takes rows as they are under their lock, in one transaction with the change that sets their
    ``reserved_usd`` to nothing. A cost of None is not known: then all that was reserved counts as
    spent.
    """
    sums: dict[tuple[type[ProviderCall], int], list[Decimal]] = defaultdict(
        lambda: [Decimal(0), Decimal(0)]
    )
    for call, cost in ended:
        run_id = getattr(call, "run_id", None)
        if run_id is None:
            continue
        total = sums[type(call), run_id]
        total[0] += call.reserved_usd
        total[1] += call.reserved_usd if cost is None else cost
    for (calls, run_id), (reserved, spent) in sorted(sums.items(), key=lambda one: one[0][1]):
        if reserved or spent:
            run_rows(calls).filter(pk=run_id).update(
                reserved_usd=moved("reserved_usd", -reserved), spent_usd=moved("spent_usd", spent)
            )


def moved(column: str, usd: Decimal) -> Round:
    """Return the column with ``usd`` added, to the millionth.

    SQLite adds in binary: what is left of several sums that cancel could be a hair below nothing,
    which the table refuses.
    """
    return Round(F(column) + usd, precision=CENT_DIGITS)
