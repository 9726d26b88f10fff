"""A database of its own for a measurement, and the site upon it."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from django.db import connections

from tests.postgres import server_url

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def scratch_site(**settings: str) -> Iterator[str]:
    """Set the site up on a PostgreSQL database that is dropped in the end; yield its address.

    ``settings`` are variables of the environment. Models can be imported from then on.
    """
    with scratch_database() as url:
        os.environ.pop("HEART_SECRET_KEY_FILE", None)
        os.environ |= {
            "DATABASE_URL": url,
            "HEART_SECRET_KEY": secrets.token_urlsafe(50),
            "DJANGO_SETTINGS_MODULE": "heart_site.settings",
            **settings,
        }
        # In a process of its own, for it would leave some 100 MB behind in this one.
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, check=True)
        django.setup()
        yield url


@contextmanager
def scratch_database() -> Iterator[str]:
    """Create a database, and drop it in the end."""
    server, name = server_url(), f"heart_scratch_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connections.close_all()
            link.execute(f"DROP DATABASE {name} WITH (FORCE)")
