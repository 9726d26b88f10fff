"""How tests are shared out among processes: by group where one is named, else by file.

What a module prepares for all its tests is then prepared once, not in every process. The longest
come first, so that no process is left alone with them at the end, and browser tests come in a row,
so that each process starts one site for them.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

LONGEST_FIRST = ("tests/browser/", "tests/faults/", "tests/deploy/")


class ByFile(LoadGroupScheduling):
    """Keep groups together as `--dist loadgroup` does, and files that name no group."""

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.split("::", 1)[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile | None:
    """Take the place of the scheduler that `--dist loadgroup` would make."""
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)  # after they were shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first; files stay whole."""
    items.sort(key=lambda item: [not item.nodeid.startswith(one) for one in LONGEST_FIRST])
