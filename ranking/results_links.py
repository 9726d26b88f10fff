"""How the analyses of a fit are led to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AnalysisLink:
    """One analysis of the fit of that name, what it asks, and where it stands.

    ``state`` is one of `FitState`.
    """

    fit: str
    slug: str
    label: str
    question: str
    state: str

    @property
    def is_running(self) -> bool:
        """Say whether it is still being computed."""
        return self.state == "RUNNING"

    @property
    def is_refused(self) -> bool:
        """Say whether the judgments do not allow it."""
        return self.state == "REFUSED"
