"""The same state gives the same bytes in another process, place, zone, locale and seed."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from ranking.released.writing import files_of
from ranking.report import services
from tests.helpers.released import START, build, make_study_to_release

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shared_database")]
ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = {
    "TZ": "Pacific/Kiritimati",  # where it is tomorrow already
    "PYTHONHASHSEED": "4711",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",  # files that name no encoding are ASCII
    "HEART_SECRET_KEY": "of-another-machine",
    "OPENBLAS_NUM_THREADS": "1",
}


def database_url() -> str:
    """Return the address of the test's own database, for another process."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


@pytest.mark.full
def test_another_process_builds_the_same_bytes(settings, tmp_path):
    settings.HEART_BOOTSTRAP_REPLICATES = 20
    settings.HEART_DATA_DIR = tmp_path / "here"
    study = make_study_to_release(title="Wörter für \u201ealle\u201c")
    fit = study.fits.get(pool="COMBINED", context_set="ALL")
    services.analyse_fit(fit_id=fit.pk, kind="AGREEMENT", clock=lambda: START)
    build(study, tmp_path / "one")
    apart = tmp_path / "apart"
    apart.mkdir()

    command = ["release", "build", "--study", study.slug, "--out", str(apart / "two")]
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command],
        cwd=apart,
        env=ELSEWHERE
        | {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url(),
            "HEART_DATA_DIR": str(apart / "data"),
        },
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    names = files_of(tmp_path / "one")
    assert names == files_of(apart / "two")
    assert "figures" in {name.partition("/")[0] for name in names}
    differing = [
        name
        for name in names
        if (tmp_path / "one" / name).read_bytes() != (apart / "two" / name).read_bytes()
    ]
    assert differing == []
