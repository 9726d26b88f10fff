"""The version of the software is the same wherever it stands."""

import re
import tomllib
from pathlib import Path

from ranking.releases.documents import VERSION

ROOT = Path(__file__).resolve().parents[2]


def test_releases_and_citations_name_the_version_of_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = re.search(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"))

    assert package == VERSION
    assert cited is not None
    assert cited[1] == package
