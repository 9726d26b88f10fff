"""Libraries of others stand in the repository as their registry has them, with their licences."""

import hashlib
import re

import pytest
from django.conf import settings

VENDOR = settings.BASE_DIR / "static" / "vendor"
ECHARTS = VENDOR / "echarts-6.1.0"
SUM = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"


def test_the_library_of_charts_is_the_published_file():
    published = (ECHARTS / "echarts.min.js").read_bytes()

    assert hashlib.sha256(published).hexdigest() == SUM
    assert b't.version="6.1.0"' in published


def test_its_sum_is_told_beside_it():
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


def test_every_folder_is_listed_and_carries_its_version():
    listed = (VENDOR / "README.md").read_text("utf-8")

    for folder in (one for one in VENDOR.iterdir() if one.is_dir()):
        assert f"`{folder.name}`" in listed
        assert re.search(r"-\d+\.\d+\.\d+$", folder.name)
