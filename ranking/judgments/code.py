"""What tells figures computed again from stored ones, apart: pages need it without numerics."""

import hashlib
from functools import cache
from pathlib import Path

HERE = Path(__file__).parents[1]
# What else than the numerics decides what comes out of a fit or of its analyses.
SOURCES = (
    *(HERE / name for name in ("analyses", "fits/estimate.py", "fits/people.py")),
    *(HERE / f"judgments/{name}.py" for name in ("scores", "style", "tallies")),
    HERE.parent / "annotation" / "rationales" / "themes" / "__init__.py",
)
TOLERANCE = 1e-9  # relative to the figure, and absolute below 1


@cache
def code_version() -> str:
    """Return a mark of the estimators' source, which changes when any of them does."""
    sources = sorted((HERE / "numerics").rglob("*.py"))
    for source in SOURCES:
        sources += sorted(source.rglob("*.py")) or [source]
    content = b"".join(path.read_bytes() for path in sources)
    return f"numerics-{hashlib.sha256(content).hexdigest()[:16]}"


def is_close(one: object, other: object) -> bool:
    """Say whether two values are equal, numbers to 1e-9 of their size."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))
    return one == other
