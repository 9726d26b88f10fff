"""The seed of a study: typed in its file, kept from its draft, or drawn (ADR-0007)."""

import secrets

from annotation.models import Study
from annotation.studies.protocol import StudyProtocol

SEED_BYTES = 16


class SeedTakenError(Exception):
    """The typed seed is another study's: whoever learns one would know what comes in the other."""


def with_seed(protocol: StudyProtocol, *, draft: Study | None) -> StudyProtocol:
    """Return the file with a seed; one that has none keeps the draft's, or gets a drawn one.

    ``draft`` is the study that is changed or replaced, if any.

    Raises
    ------
    SeedTakenError
        If another study has the seed that was typed.
    """
    if protocol.seed is None:
        seed = secrets.token_hex(SEED_BYTES) if draft is None else draft.seed
        return protocol.model_copy(update={"seed": seed})
    others = Study.objects.filter(seed=protocol.seed)
    if draft is not None:
        others = others.exclude(pk=draft.pk)
    if others.exists():
        msg = "seed: another study has this one: leave it out, so that a fresh one is drawn"
        raise SeedTakenError(msg)
    return protocol
