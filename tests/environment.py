"""The environment of a test run, set before Django reads its settings (`-p tests.environment`).

``HEART_TEST_DATABASE`` picks the database: ``sqlite`` (the default) or ``postgres``. For the
latter, tests/postgres.py finds a server: DATABASE_URL, or the usual local port.
"""

import os
import signal
import tempfile
from pathlib import Path

from tests import postgres

VARIABLES = {
    "HEART_SECRET_KEY": "only-for-tests",
    "HEART_ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "HEART_BROKER_URL": "memory://localhost/",
    "HEART_BOOTSTRAP_REPLICATES": "200",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "",
    "HEART_DATA_DIR": tempfile.mkdtemp(prefix="heart-tests-"),
    # pytest-playwright's event loop would make Django refuse the ORM in browser tests.
    "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
}

# Shells make what they run in the background ignore it, and tests interrupt themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.update(VARIABLES)
if os.environ.get("HEART_TEST_DATABASE", "sqlite") == "postgres":
    os.environ["DATABASE_URL"] = postgres.server_url()
else:
    os.environ["DATABASE_URL"] = f"sqlite:///{Path(VARIABLES['HEART_DATA_DIR']) / 'db.sqlite3'}"
