"""The Dockerfile without an engine: its steps are those that the Makefile and the documents use."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.helpers.processes import COMPOSE, OURS, ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in DOCKERFILE.splitlines()
    if line and not line.startswith(("#", " "))
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BASES = [rest for step, rest in STEPS if step == "FROM"]
PINNED = f"postgres:17.11-bookworm@sha256:{'0' * 64}"


def steps(name: str) -> list[str]:
    return [rest for step, rest in STEPS if step == name]


def copied() -> dict[str, str]:
    """Return what is copied from the checkout, and where to."""
    found: dict[str, str] = {}
    for words in map(str.split, steps("COPY")):
        if not words[0].startswith("--from"):
            found |= dict.fromkeys(words[:-1], words[-1])
    return found


def ignored() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    return [line.removeprefix("**/") for line in lines]


class TestStages:
    def test_one_builds_and_one_is_kept(self):
        assert len(BASES) == 2
        assert BASES[0] == f"{BASES[1]} AS build"
        assert "--from=build /opt/heart /opt/heart" in steps("COPY")

    def test_the_python_is_an_exact_one_that_the_project_runs_on(self):
        version = re.fullmatch(
            r"python:(\d+\.\d+\.\d+)-slim-bookworm(@sha256:[0-9a-f]{64})?", BASES[1]
        )
        assert version is not None
        assert version[1] in SpecifierSet(PROJECT["project"]["requires-python"])

    def test_it_runs_as_somebody_who_owns_nothing_of_the_code(self):
        assert STEPS[-3:][0] == ("USER", "heart")
        assert re.search(r"useradd --system --uid 10001 ", DOCKERFILE)
        assert "chown" not in " ".join(steps("COPY"))

    def test_its_command_is_that_of_web(self):
        assert steps("CMD") == [str(OURS["web"]["command"]).replace("'", '"')]


class TestInstalling:
    def test_takes_the_lock_with_hashes_as_make_does(self):
        (install,) = [rest for rest in steps("RUN") if "pip install" in rest]
        assert "-m pip install --require-hashes --no-deps -r requirements.lock" in install
        assert "install $(quietly) --no-compile --require-hashes --no-deps -r $(1)" in MAKEFILE
        assert ".venv/.runtime: requirements.lock" in MAKEFILE
        assert "requirements.lock" in copied()

    def test_its_dump_is_as_new_as_the_database(self):
        (server,) = re.findall(r"postgres:(\d+)", COMPOSE["services"]["db"]["image"])
        assert f"postgresql-client-{server} " in DOCKERFILE


class TestCopying:
    @pytest.mark.parametrize("source", sorted(copied()))
    def test_source_exists_and_is_not_ignored(self, source):
        assert (ROOT / source).exists()
        assert source not in ignored()

    def test_every_package_that_the_site_imports_is_there(self):
        packages = set(PROJECT["tool"]["importlinter"]["root_packages"])
        assert packages <= set(copied())
        assert {"templates", "static"} <= set(copied())

    @pytest.mark.parametrize("folder", [".git", ".venv", "var", "tests", ".env", "staticfiles"])
    def test_what_is_private_or_of_no_use_stays_out(self, folder):
        assert folder in ignored()

    def test_static_files_are_collected_from_what_is_copied(self, tmp_path):
        """The very step of the file, in a folder that has what the image has and nothing else."""
        for source in copied():
            if (ROOT / source).is_dir():
                shutil.copytree(
                    ROOT / source,
                    tmp_path / source,
                    ignore=shutil.ignore_patterns("__pycache__"),
                )
            else:
                shutil.copyfile(ROOT / source, tmp_path / source)
        (step,) = [rest for rest in steps("RUN") if "collectstatic" in rest]
        (storage,) = re.findall(r"HEART_STATIC_STORAGE=\S+", DOCKERFILE)
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"

        subprocess.run(
            ["/bin/sh", "-c", step.replace("/tmp/build", str(tmp_path / "build"))],
            cwd=tmp_path,
            env={"PATH": path, **dict([storage.split("=")])},
            check=True,
            capture_output=True,
        )

        assert (tmp_path / "staticfiles/staticfiles.json").exists()
        assert not (tmp_path / "build").exists()


class TestPinning:
    def test_writes_the_digest_behind_each_tag(self, tmp_path):
        for name in ("docker-compose.yml", "Dockerfile"):
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
        docker = tmp_path / "bin/docker"
        docker.parent.mkdir()
        docker.write_text(f'#!/bin/sh\necho "$4" >> asked\necho sha256:{"0" * 64}\n')
        docker.chmod(0o755)
        env = {"PATH": f"{docker.parent}:/usr/bin:/bin"}

        for _ in range(2):  # a digest that is there is renewed, not doubled
            subprocess.run([ROOT / "deploy/pin-images"], cwd=tmp_path, env=env, check=True)

        pinned = (tmp_path / "docker-compose.yml").read_text()
        assert pinned.count("@sha256:") == 3
        assert f"image: {PINNED}\n" in pinned
        assert "image: heart:local\n" in pinned
        assert (tmp_path / "Dockerfile").read_text().count("@sha256:") == 2
        assert set((tmp_path / "asked").read_text().split()) == {
            BASES[1].partition("@")[0],
            *(
                service["image"].partition("@")[0]
                for service in COMPOSE["services"].values()
                if "build" not in service
            ),
        }
