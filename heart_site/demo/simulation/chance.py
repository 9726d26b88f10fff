"""Seeded draws that do not depend on what was drawn before, so that a resumed run repeats them."""

import hashlib

import numpy as np


def generator(*parts: object) -> np.random.Generator:
    """Return a generator for these parts alone: the same parts give the same draws.

    Parameters
    ----------
    *parts : object
        A seed and whatever names the draw; their texts are hashed.
    """
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
