"""How tests are shared out among processes: by group where one is named, else by file.

What a module prepares for all its tests is then prepared once, not in every process.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling


class ByFile(LoadGroupScheduling):
    """Keep groups together as `--dist loadgroup` does, and files that name no group."""

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.split("::", 1)[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile | None:
    """Take the place of the scheduler that `--dist loadgroup` would make."""
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None
