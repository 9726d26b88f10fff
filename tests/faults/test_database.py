"""PostgreSQL ends in the middle of everything and comes back, and nobody does anything."""

from tests.faults.conftest import ROUNDS
from tests.faults.crowd import Crowd, judging
from tests.faults.services import Cluster


def crash(cluster: Cluster, crowd: Crowd) -> float:
    """End the server while everybody judges, and start it when everybody has met that."""
    crowd.wait_for_each(3)
    cluster.crash()
    crowd.wait_for_trouble()
    cluster.start()
    return crowd.wait_for_each(5)


def test_the_database_crashes_under_load_and_comes_back(stack, web, settle):
    with judging("database-restarted", web.process, addresses=[web.address]) as crowd:
        healed_s = max(crash(stack.cluster, crowd) for _ in range(ROUNDS))

    settle("database-restarted", "crash and start under load", crowd, healed_s=healed_s)
    assert crowd.troubles["503"] >= len(crowd.raters)
