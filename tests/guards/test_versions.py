"""The version of the software is the same everywhere; libraries of others are as published."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from ranking.releases.documents import VERSION

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "static" / "vendor"
ECHARTS = VENDOR / "echarts-6.1.0"
SUM = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"


def test_releases_and_citations_name_the_version_of_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = re.search(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"))

    assert package == VERSION
    assert cited is not None
    assert cited[1] == package


def test_the_library_of_charts_is_the_published_file_with_its_sum_beside_it():
    published = (ECHARTS / "echarts.min.js").read_bytes()

    assert hashlib.sha256(published).hexdigest() == SUM
    assert b't.version="6.1.0"' in published
    assert SUM in (VENDOR / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LICENSE", "Apache License"),
        ("NOTICE", "Apache ECharts"),
        ("licenses/LICENSE-d3", "Mike Bostock"),
        ("licenses/LICENSE-zrender", "Baidu"),
        ("licenses/LICENSE-tslib", "Microsoft"),
    ],
)
def test_its_licences_come_with_it(name, words):
    assert words in (ECHARTS / name).read_text("utf-8")


def test_every_folder_of_a_library_is_listed_and_carries_its_version():
    listed = (VENDOR / "README.md").read_text("utf-8")

    for folder in (one for one in VENDOR.iterdir() if one.is_dir()):
        assert f"`{folder.name}`" in listed
        assert re.search(r"-\d+\.\d+\.\d+$", folder.name)
