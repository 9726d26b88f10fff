"""What the database must say after a drill, beside what people were told."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.services import Cluster

STORED = """
    SELECT count(*) FROM annotation_judgment j
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s"""
LOST = """
    SELECT token FROM unnest(%s::uuid[]) token WHERE NOT EXISTS (
        SELECT 1 FROM annotation_lease l JOIN annotation_judgment j ON j.lease_id = l.id
        WHERE l.token = token.token)"""
TWICE = """
    SELECT l.token, count(*) FROM annotation_judgment j
    JOIN annotation_lease l ON l.id = j.lease_id
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s
    GROUP BY l.token HAVING count(*) > 1
    UNION ALL
    SELECT NULL, count(*) FROM annotation_judgment j
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s
    GROUP BY j.comparison_id, j.rater_id HAVING count(*) > 1"""
OUT_OF_ORDER = """
    SELECT c.key, c.slots_left, held.n, counted.n FROM annotation_comparison c
    JOIN annotation_study s ON s.id = c.study_id
    CROSS JOIN LATERAL (SELECT count(*) n FROM annotation_lease l
        WHERE l.comparison_id = c.id AND l.closed_at IS NULL) held
    CROSS JOIN LATERAL (SELECT count(*) n FROM annotation_judgment j
        WHERE j.comparison_id = c.id AND NOT j.is_surplus) counted
    WHERE s.slug = %s AND (c.slots_left < 0
        OR c.slots_left + held.n + counted.n <> s.judgments_per_pair)"""


@dataclass(frozen=True)
class Balance:
    """How the judgments of a study compare with what raters were told."""

    stored: int
    lost: list[str]
    """Tokens of answers that were acknowledged and are not there."""
    twice: list[object]
    """Answers stored more than once, and raters with two answers to one pair."""
    out_of_order: list[object]
    """Pairs whose free slots, open leases and judgments do not add up to their quota."""

    def check(self, acknowledged: Sequence[str], *, n_raters: int) -> None:
        """Nothing is lost, nothing is counted twice, and nothing was stored that nobody sent."""
        assert self.lost == []
        assert self.twice == []
        assert self.out_of_order == []
        assert len(acknowledged) == len(set(acknowledged))
        # Whose answer was on its way when the drill ended was not told that it had arrived.
        assert len(acknowledged) <= self.stored <= len(acknowledged) + n_raters


def balance(cluster: Cluster, study: str, acknowledged: Sequence[str]) -> Balance:
    """Read how a study stands."""
    ((stored,),) = cluster.rows(STORED, study)
    return Balance(
        stored=stored,
        lost=[str(token) for (token,) in cluster.rows(LOST, list(acknowledged))],
        twice=list(cluster.rows(TWICE, study, study)),
        out_of_order=list(cluster.rows(OUT_OF_ORDER, study)),
    )
