"""Which analyses of a study its protocol named in advance: those alone confirm."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.models import Judgment, Study
from annotation.studies.queries import content_of
from completions.files.toml import content_hash
from ranking.choices import AnalysisKind

ALIKE = 1e-9  # two shares that differ by less are the same


@dataclass(frozen=True)
class NamedAnalyses:
    """The analyses that a study named before its judgments were seen; all others explore.

    ``weights`` are those of the dimensions, if their analysis is among them. ``was_changed`` says
    that the file names some but is no longer the one that was judged under: none counts then.
    """

    kinds: frozenset[AnalysisKind] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)
    was_changed: bool = False

    def is_exploratory(self, kind: AnalysisKind, shares: Mapping[str, float] | None = None) -> bool:
        """Say whether what an analysis found was not asked in advance.

        Of weighted dimensions that is the ranking under the weights that were named, alone:
        ``shares`` are those of the ranking in question, none for what is stored beside it.
        """
        is_weighed = kind is AnalysisKind.WEIGHTS
        return kind not in self.kinds or (is_weighed and not are_alike(shares or {}, self.weights))


def named_analyses(study: Study) -> NamedAnalyses:
    """Return what the study's file names as confirmatory, if it is what was locked and judged.

    It is read anew each time, and nothing of it is stored with the findings: so those that were
    computed earlier follow it too. The file holds if its hash is that of the lock, and that of
    the study's first judgment. One query, and none where the file names nothing.
    """
    content = content_of(study)
    plan = content.get("analysis")
    if not plan:
        return NamedAnalyses()
    judged = Judgment.objects.filter(comparison__study=study).order_by("pk")
    first = judged.values_list("protocol_hash", flat=True).first() or study.protocol_hash
    if not study.protocol_hash == content_hash(content) == first:
        return NamedAnalyses(was_changed=True)
    kinds = frozenset(AnalysisKind(name.upper()) for name in plan["confirmatory"])
    return NamedAnalyses(kinds, plan["weights"])


def are_alike(shares: Mapping[str, float], weights: Mapping[str, float]) -> bool:
    """Say whether shares, which add up to 1, are those of the weights."""
    total = sum(weights.values())
    return bool(shares) and all(
        abs(shares.get(key, 0.0) - weights.get(key, 0.0) / total) < ALIKE
        for key in {*shares, *weights}
    )
