"""How the analyses of a fit are led to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AnalysisLink:
    """One analysis of the fit of that name, what it asks, and where it stands.

    ``state`` is one of `FitState`; ``is_exploratory`` says that the study's file did not name it
    before the judgments were seen.
    """

    fit: str
    slug: str
    label: str
    question: str
    state: str
    is_exploratory: bool = True

    @property
    def is_running(self) -> bool:
        """Say whether it is still being computed."""
        return self.state == "RUNNING"

    @property
    def is_refused(self) -> bool:
        """Say whether the judgments do not allow it."""
        return self.state == "REFUSED"
