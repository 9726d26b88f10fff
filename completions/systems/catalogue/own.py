"""A system that is added by hand: by the rules of a file; simulated and imported ones, too."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from completions.systems.catalogue.entries import SystemEntry


def _says_so(name: str) -> str:
    """Refuse a name that would let a simulated system pass for a real one."""
    if "simulated" not in name.lower():
        msg = 'the name of a simulated system holds the word "simulated"'
        raise ValueError(msg)
    return name


class SimulatedEntry(SystemEntry):
    """A system that the offline provider answers: its name says so, and it has no key."""

    # Looser than a file's name in one thing: the word that is refused there is demanded here.
    name: Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_says_so)]

    @model_validator(mode="after")
    def _is_answered_here(self) -> Self:
        """Refuse what would say that a call goes anywhere else."""
        told = self.parameters
        if self.kind != "model":
            msg = "only a model is simulated"
            raise ValueError(msg)
        if self.api_base or told.api_base_env or told.api_key_env:
            msg = "the offline provider answers a simulated system: it has no address and no key"
            raise ValueError(msg)
        return self


class ImportedEntry(SystemEntry):
    """A system whose texts are imported: it names its maker, and nothing asks it."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Refuse what would only matter if it were asked."""
        if self.family is None or self.kind != "model":
            msg = "a system whose texts are imported is a model, and names who made it"
            raise ValueError(msg)
        if self.api_base or self.parameters.as_stored():
            msg = "without a model to ask there is no address, key, price or setting"
            raise ValueError(msg)
        return self
