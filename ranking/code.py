"""A mark of the code behind the figures, apart: pages ask for it and need no numerics."""

import hashlib
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
# What else than the numerics decides what comes out of a fit or of its analyses.
SOURCES = ("analyses", "estimate.py", "people", "style.py", "tallies.py", "themes")


@cache
def code_version() -> str:
    """Return a mark of the estimators' source, which changes when any of them does."""
    sources = sorted((HERE / "numerics").rglob("*.py"))
    for name in SOURCES:
        sources += sorted((HERE / name).rglob("*.py")) or [HERE / name]
    content = b"".join(path.read_bytes() for path in sources)
    return f"numerics-{hashlib.sha256(content).hexdigest()[:16]}"
