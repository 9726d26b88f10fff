"""Many numbers as few bytes of text: what is stored so that later questions can be answered."""

import base64
from collections.abc import Sequence

import numpy as np

from ranking.numerics.arrays import Floats

LARGEST = 2**15 - 1
NOTHING = -(2**15)  # stands for NaN
DTYPE = np.dtype("<i2")  # the same bytes on every machine


def packed(numbers: Floats) -> tuple[str, float]:
    """Return numbers as text, and the step in which they are written.

    Parameters
    ----------
    numbers : array of any shape
        Finite, or NaN, which is kept.

    Returns
    -------
    tuple of str and float
        Base64 of two bytes for each number, in C order, and the step. What `unpacked` reads is
        off by half a step at most: a 65,534th of the number farthest from 0.

    Raises
    ------
    ValueError
        If a number is infinite.
    """
    if np.isinf(numbers).any():
        msg = "infinite numbers cannot be packed"
        raise ValueError(msg)
    known = ~np.isnan(numbers)
    reach = float(np.abs(numbers[known]).max(initial=0.0))
    step = reach / LARGEST or 1.0
    whole = np.where(known, np.rint(np.where(known, numbers, 0.0) / step), NOTHING)
    return base64.b64encode(whole.astype(DTYPE).tobytes()).decode("ascii"), step


def unpacked(text: str, step: float, shape: Sequence[int]) -> Floats:
    """Return the numbers that `packed` wrote, in the shape they had.

    Raises
    ------
    ValueError
        If the text does not hold an array of that shape.
    """
    whole = np.frombuffer(base64.b64decode(text), dtype=DTYPE).reshape(tuple(shape))
    numbers: Floats = np.where(whole == NOTHING, np.nan, whole * step)
    return numbers
