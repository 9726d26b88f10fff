"""What a worker holds in memory before its first task: each process pays for it."""

import os
import subprocess
import sys

CODE = """
import os, sys
os.environ.pop("CELERY_SKIP_CHECKS", None)
from heart_site.celery import app
app.loader.import_default_modules()
assert "ranking.tasks.run_fit" in app.tasks
heavy = {"scipy", "pandas", "litellm", "pyarrow", "statsmodels", "sklearn", "matplotlib"}
found = heavy & set(sys.modules) or {"heart_site.urls"} & set(sys.modules)
sys.exit(f"loaded: {sorted(found)}" if found else 0)
"""


def test_a_worker_that_has_done_nothing_loads_no_numerics_and_no_pages():
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "heart_site.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
