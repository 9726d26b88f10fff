"""What analyses may know beyond who preferred what, from the files of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from ranking.findings import AnalysisRefusedError
from ranking.judgments.sources import ItemFacts, SystemFacts
from ranking.release_check.bundle import Row
from ranking.release_check.frames import Frame


class NotReleasedError(AnalysisRefusedError):
    """An analysis asks for what a release does not hold."""


@dataclass(frozen=True)
class ReleaseSources:
    """The sources of one selection of a release.

    ``lacking`` hears what an analysis asks for in vain: some do without, and find less.
    """

    frame: Frame
    lacking: list[str] = field(default_factory=list)

    def systems(self) -> Mapping[str, SystemFacts]:
        """Return the facts of each system by its slug."""
        rows = self.frame.bundle.by_key("systems")
        return {slug: _facts(rows[slug]) for slug in self.frame.columns.systems}

    def judge_families(self) -> Mapping[str, str]:
        """Return the family of each LLM judge by its slug."""
        rows = self.frame.bundle.by_key("judges")
        known = self.frame.columns.evaluators
        return {slug: rows[slug]["family"] for slug in known if slug in rows}

    def items(self) -> ItemFacts:
        """Return the pairs and their messages, in the order of the columns."""
        bundle, frame = self.frame.bundle, self.frame
        judged = {row["comparison"] for row in frame.rows}
        of_key: dict[str, Row] = {}
        for row in bundle.tables["comparisons"]:
            if row["id"] in judged:
                of_key.setdefault(row["key"], row)
        items = [of_key[key] for key in sorted(of_key)]
        strata = {key: row["stratum"] for key, row in bundle.by_key("contexts").items()}
        texts = {row["id"]: n for n, row in enumerate(bundle.tables["completions"])}
        places = {row["key"]: n for n, row in enumerate(bundle.tables["contexts"])}
        contexts = sorted({places[one["context"]] for one in items})
        messages = sorted({texts[one[side]] for one in items for side in ("first", "second")})
        written = [bundle.tables["completions"][n] for n in messages]
        pairs = [texts[one[side]] for one in items for side in ("first", "second")]
        return ItemFacts(
            context=np.searchsorted(contexts, [places[one["context"]] for one in items]),
            is_adversarial=np.array(
                [strata[one["context"]] == "ADVERSARIAL" for one in items], dtype=np.bool_
            ),
            message=np.searchsorted(messages, pairs).reshape(-1, 2),
            system=np.array(
                [frame.columns.systems.index(one["system"]) for one in written], dtype=np.int64
            ),
            message_context=np.searchsorted(contexts, [places[one["context"]] for one in written]),
        )

    def judgments(self) -> NoReturn:
        """Refuse: times are coarse, and not every reason is released."""
        self._refuse("reasons and exact times")

    def strategies(self) -> NoReturn:
        """Refuse."""
        self._refuse("labels of strategies")

    def themes(self) -> NoReturn:
        """Refuse."""
        self._refuse("labels of themes")

    def _refuse(self, what: str) -> NoReturn:
        self.lacking.append(what)
        msg = f"A release holds no {what}."
        raise NotReleasedError(msg)


def _facts(row: Row) -> SystemFacts:
    return SystemFacts(
        name=row["name"],
        kind=row["kind"],
        family=row["family"],
        is_simulated=row["is_simulated"],
        intelligence_index=row["intelligence_index"],
        published_ttft_ms=row["published_ttft_ms"],
        measured_ttft_ms=row["measured_ttft_ms"],
    )
