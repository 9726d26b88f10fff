"""Sources made up, for analyses that ask for more than preferences."""

from dataclasses import dataclass, field

from ranking.judgments.sources import (
    ItemFacts,
    JudgmentFacts,
    StrategyLabels,
    SystemFacts,
    ThemeLabels,
    TickedReasons,
)


def make_facts(slug, **fields):
    known = {"name": slug.title(), "kind": "MODEL", "family": "someone", "is_simulated": False}
    return SystemFacts(**known | fields)


@dataclass(frozen=True)
class MadeUpSources:
    """What a study is told to know; what it is not told is missing, as in a file."""

    of_systems: dict[str, SystemFacts] = field(default_factory=dict)
    of_judges: dict[str, str] = field(default_factory=dict)
    of_items: ItemFacts | None = None
    of_judgments: JudgmentFacts | None = None
    labels: StrategyLabels | None = None
    of_themes: ThemeLabels | None = None
    of_chips: TickedReasons | None = None

    def systems(self):
        return self.of_systems

    def judge_families(self):
        return self.of_judges

    def items(self):
        return self.of_items

    def judgments(self):
        return self.of_judgments

    def strategies(self):
        return self.labels

    def themes(self):
        return self.of_themes

    def chips(self):
        return self.of_chips
