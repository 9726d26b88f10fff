"""How much and how evenly systems use each of several ways to support."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class Usage:
    """What the systems use.

    Attributes
    ----------
    n_messages : integer array of shape (n_systems,)
        How many messages of each were labelled.
    rates : array of shape (n_systems, n_ways)
        Share of a system's messages that show each way; NaN for a system without messages.
    per_message : array of shape (n_systems,)
        How many ways a message shows, on average.
    coverage : array of shape (n_systems,)
        Share of the ways that the system shows at least once.
    entropy : array of shape (n_systems,)
        Of the ways among all that the system shows, in bits; NaN for one that shows none.
    """

    n_messages: Integers
    rates: Floats
    per_message: Floats
    coverage: Floats
    entropy: Floats


def usage(shown: Floats, system: Integers, *, n_systems: int) -> Usage:
    """Add up which ways the messages of each system show.

    Parameters
    ----------
    shown : array of shape (n_messages, n_ways)
        1 where a message shows a way, 0 where it does not, between them where that is uncertain.
    system : integer array of shape (n_messages,)
        Index of the system of each message.
    n_systems : int
        How many systems there are.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not between 0 and 1.

    Notes
    -----
    A system that shows one way alone has entropy 0, one that shows all alike log2(n_ways).
    Cost O(n_messages * n_ways).

    References
    ----------
    .. [1] Shannon (1948), Bell Syst. Tech. J. 27:379-423. doi:10.1002/j.1538-7305.1948.tb01338.x
    """
    if shown.shape[:1] != system.shape or not ((shown >= 0) & (shown <= 1)).all():
        msg = "values between 0 and 1 are needed, a row for each message"
        raise ValueError(msg)
    n_messages = np.bincount(system, minlength=n_systems)
    totals = np.zeros((n_systems, shown.shape[1]))
    np.add.at(totals, system, shown)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = totals / n_messages[:, None]
        mix = totals / totals.sum(axis=1, keepdims=True)
    return Usage(
        n_messages=n_messages,
        rates=rates,
        per_message=rates.sum(axis=1),
        coverage=np.where(n_messages > 0, (totals > 0).mean(axis=1), np.nan),
        entropy=special.entr(mix).sum(axis=1) / np.log(2),
    )
