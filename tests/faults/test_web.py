"""Web processes that die in the middle of answers, and two servers on one database."""

import time

import psycopg

from tests.faults.conftest import ROUNDS
from tests.faults.crowd import Crowd, judging
from tests.faults.services import Cluster
from tests.faults.stack import Web
from tests.helpers.processes import wait_until

CRASH_LOOP_S = 6
"""A process that is killed again so soon is not replaced: the server ends, to be started anew."""
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def kill_in_the_middle(web: Web, crowd: Crowd, cluster: Cluster) -> float:
    """Kill all workers while answers are in transactions that are not committed.

    Not all raters need be in one: a connection that no worker has taken yet outlives them.
    """
    crowd.wait_for_each(3)
    with psycopg.connect(cluster.url) as link:
        link.execute("LOCK TABLE annotation_judgment IN SHARE ROW EXCLUSIVE MODE")
        wait_until(lambda: cluster.rows(WAITING)[0][0] >= 2, web.process)
        web.kill_workers()
        killed = time.monotonic()
        crowd.wait_for_trouble(n=2)
    healed_s = crowd.wait_for_each(5)
    wait_until(lambda: time.monotonic() - killed > CRASH_LOOP_S, web.process)
    return healed_s


def test_workers_killed_in_the_middle_of_answers(stack, web, settle):
    with judging("worker-killed", web.process, addresses=[web.address]) as crowd:
        healed_s = max(kill_in_the_middle(web, crowd, stack.cluster) for _ in range(ROUNDS))

    settle("worker-killed", "SIGKILL of all web workers", crowd, healed_s=healed_s)


def test_two_servers_on_one_database_serve_one_rater_in_turn(stack, web, settle):
    with stack.web("other") as other:
        addresses = [web.address, other.address]
        with judging("two-webs", web.process, other.process, addresses=addresses) as crowd:
            crowd.wait_for_each(10)
            assert not crowd.troubles
            other.process.kill()
            healed_s = Crowd(crowd.raters, [web.process]).wait_for_each(5)

    settle("two-webs", "two servers in turn, one killed", crowd, healed_s=healed_s)
    assert set(crowd.troubles) == {"no answer"}
