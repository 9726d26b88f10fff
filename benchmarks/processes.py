"""What processes of a measurement cost: processor time and memory, by the groups that they are in.

Everything is read from /proc, so on Linux alone.
"""

import os
from collections.abc import Collection
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def of_groups(groups: Collection[int]) -> list[Path]:
    """Return the folders of all processes in these process groups."""
    stats = {path: stat_of(path) for path in Path("/proc").glob("[0-9]*")}
    return [path for path, stat in stats.items() if stat and int(stat[2]) in groups]


def cpu_seconds(processes: Collection[Path]) -> float:
    """Return the processor time that they have taken."""
    stats = [stat_of(one) for one in processes]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats if stat) / TICK


def largest_mb(processes: Collection[Path]) -> float:
    """Return the most memory that one of them has held (peak RSS)."""
    return _most_mb(processes, "status", "VmHWM")


def forget_largest() -> None:
    """Begin anew to note the most memory that this process holds."""
    Path("/proc/self/clear_refs").write_text("5")


def share_mb(processes: Collection[Path]) -> float:
    """Return the same with shared memory divided among those who share it (PSS, now)."""
    return _most_mb(processes, "smaps_rollup", "Pss:")


def stat_of(process: Path) -> list[str]:
    """Return what the system says of a process, from its state on; nothing if it has ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _most_mb(processes: Collection[Path], file: str, name: str) -> float:
    lines = [line for one in processes for line in (one / file).read_text().splitlines()]
    return max(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
