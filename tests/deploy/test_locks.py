"""The locks hold whatever is released: resolved offline, beside a newer release of each package."""

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from email.message import Message
from functools import cache
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import missing
from tests.helpers.processes import ROOT

RUNTIME, DEV, UV = "requirements.lock", "requirements-dev.lock", "requirements-uv.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = {
    RUNTIME: PROJECT["project"]["dependencies"],
    DEV: [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]],
    UV: PROJECT["dependency-groups"]["installer"],
}
OLDEST = {11: "22.3", 12: "23.2.1", 13: "24.2", 14: "25.2"}[sys.version_info[1]]
"""The pip that came with the first release of this Python."""
NEWEST = "26.3"
TOMORROW = "99999"


@cache
def pins(lock: str) -> dict[str, Requirement]:
    """Return what a lock pins on a machine like this, by name."""
    lines = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    found = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {canonicalize_name(one.name): one for one in found if applies(one.marker)}


def applies(marker: Marker | None, extras: frozenset[str] = frozenset()) -> bool:
    return marker is None or any(marker.evaluate({"extra": one}) for one in extras or {""})


def version(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    assert specifier.operator == "=="
    return specifier.version


def asked(pin: Requirement) -> list[Requirement]:
    """Return what a locked package asks for, with the extras that are locked."""
    if pin.name == "uv":  # it installs the environment from outside
        return []
    installed = importlib.metadata.distribution(pin.name)
    assert installed.version == version(pin), "the environment is of another lock: make setup"
    every = map(Requirement, installed.requires or ())
    return [one for one in every if applies(one.marker, frozenset(pin.extras))]


def stub(folder: Path, pin: Requirement, release: str) -> str:
    """Write a wheel that has the metadata of a package and nothing else; return its hash."""
    folder /= canonicalize_name(pin.name)
    folder.mkdir(exist_ok=True)
    name = folder.name.replace("-", "_")
    facts = Message()
    facts["Metadata-Version"], facts["Name"], facts["Version"] = "2.1", pin.name, release
    metadata = importlib.metadata.metadata(pin.name)
    for field in ("Requires-Dist", "Provides-Extra", "Requires-Python"):
        for value in metadata.get_all(field, ()):
            facts[field] = value
    parts = {
        "METADATA": str(facts),
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    path = folder / f"{name}-{release}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for part, text in parts.items():
            wheel.writestr(f"{name}-{release}.dist-info/{part}", text)
    with (folder / "index.html").open("a") as index:
        index.write(f'<a href="{path.name}">{path.name}</a>')
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """A folder with each locked package twice, as locked and as of tomorrow, and the hashes."""
    folder = tmp_path_factory.mktemp("registry")
    hashes = {}
    for name, pin in (pins(RUNTIME) | pins(DEV)).items():
        hashes[name] = stub(folder, pin, version(pin))
        stub(folder, pin, TOMORROW)
    return folder, hashes


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """The pip that this Python brings, in an environment of its own."""
    folder = tmp_path_factory.mktemp("bundled")
    venv.create(folder, with_pip=True)
    return [str(folder / "bin/python"), "-m", "pip"]


@pytest.fixture
def pip(request, bundled, tmp_path):
    """Some release of pip, run from its wheel."""
    if request.param == "bundled":
        return bundled
    words = [*bundled, "download", "-q", "--no-deps", "-d", tmp_path, f"pip=={request.param}"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        missing(f"pip {request.param}", "let the package registry be reached")
    (wheel,) = tmp_path.glob("pip-*.whl")
    return [bundled[0], str(wheel / "pip")]


@pytest.fixture
def uv(bundled):
    ours = ROOT / ".venv-uv/bin/uv"
    found = ours if ours.exists() else shutil.which("uv")
    if not found:
        missing("uv", "make setup brings it")
    return [str(found), "pip"]


def resolved(tool: list[str], lock: str, registry, tmp_path, *options: str):
    """Have an installer resolve a lock, with the hashes of the stubs, without installing."""
    folder, hashes = registry
    rewritten = tmp_path / lock
    rewritten.write_text(
        "".join(f"{pin} --hash=sha256:{hashes[name]}\n" for name, pin in pins(lock).items())
    )
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))
    }
    words = [*tool, "install", "--dry-run", "--index-url", folder.as_uri(), *options]
    return subprocess.run(
        [*words, "--require-hashes", "-r", rewritten],
        env=env
        | {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_NO_CONFIG": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def taken(report: str) -> set[str]:
    """Return name and version of all that an installer says it would install."""
    (line,) = re.findall(r"Would install (.*)", report)
    return {canonicalize_name(one.replace(".", "-")) for one in line.split()}


@pytest.mark.parametrize("lock", [RUNTIME, DEV])  # that of uv has uv alone
class TestResolving:
    @pytest.mark.parametrize("pip", [OLDEST, "bundled", NEWEST], indirect=True)
    def test_pip_takes_what_is_locked_and_no_release_of_tomorrow(
        self, pip, lock, registry, tmp_path
    ):
        done = resolved(pip, lock, registry, tmp_path, "--ignore-installed")

        assert done.returncode == 0, done.stderr
        assert taken(done.stdout) == {
            canonicalize_name(f"{name}-{version(pin)}") for name, pin in pins(lock).items()
        }

    def test_uv_takes_what_is_locked_and_no_release_of_tomorrow(
        self, uv, bundled, lock, registry, tmp_path
    ):
        done = resolved(uv, lock, registry, tmp_path, "--no-cache", "--python", bundled[0])

        assert done.returncode == 0, done.stderr
        would = set(re.findall(r"^ \+ (\S+)$", done.stderr, re.MULTILINE))
        assert would == {f"{name}=={version(pin)}" for name, pin in pins(lock).items()}


def test_a_lock_without_its_extras_does_not_outlive_a_release(
    bundled, registry, tmp_path, monkeypatch
):
    """As the locks were once: it is seen when they are so again."""
    some = ("pytest-cov", "coverage", "pytest", "iniconfig", "packaging", "pluggy", "pygments")
    bare = {name: Requirement(f"{name}=={version(pins(DEV)[name])}") for name in some}
    monkeypatch.setitem(globals(), "pins", lambda _lock: bare)

    done = resolved(bundled, DEV, registry, tmp_path, "--ignore-installed")

    assert done.returncode
    assert "must have their versions pinned" in done.stderr


@pytest.mark.parametrize("lock", [RUNTIME, DEV, UV])
class TestPins:
    def test_each_requirement_with_an_extra_is_pinned_with_it(self, lock):
        wanted = [*map(Requirement, WANTED[lock])]
        wanted += [one for pin in pins(lock).values() for one in asked(pin)]

        lost = {
            str(one)
            for one in wanted
            if applies(one.marker) and one.extras - pins(lock)[canonicalize_name(one.name)].extras
        }

        assert not lost

    def test_there_is_what_the_project_needs_and_nothing_else(self, lock):
        """What only tests need, or nothing any more, is not in the lock of those who run it."""
        needed, waiting = set[str](), [Requirement(one) for one in WANTED[lock]]
        while waiting:
            name = canonicalize_name(waiting.pop().name)
            if name not in needed:
                needed.add(name)
                waiting += asked(pins(lock)[name])

        assert set(pins(lock)) == needed

    def test_each_file_has_a_hash(self, lock):
        text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")

        assert not [line for line in text.splitlines() if " --hash=sha256:" not in line]


def test_what_is_tested_is_what_runs():
    for name, pin in pins(RUNTIME).items():
        assert str(pin) == str(pins(DEV)[name])
