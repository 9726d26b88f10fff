"""Find a PostgreSQL server for the tests; `python -m tests.postgres` says what there is."""

import os
import sys

import psycopg

LOCAL = "postgres://{user}@127.0.0.1:5432/postgres"
USERS = (os.environ.get("PGUSER"), os.environ.get("USER"), "root", "postgres")


class NoServerError(Exception):
    """No PostgreSQL can be reached here."""


def server_url() -> str:
    """Return the address of a server on which databases can be created.

    Raises
    ------
    NoServerError
        With a line that says how to get one.
    """
    if url := os.environ.get("HEART_TEST_POSTGRES_URL"):
        return url  # found once by the Makefile, and passed on to every worker
    if (url := os.environ.get("DATABASE_URL", "")).startswith("postgres"):
        return url
    for user in filter(None, dict.fromkeys(USERS)):
        if _answers(url := LOCAL.format(user=user)):
            return url
    msg = (
        "no PostgreSQL: set DATABASE_URL, or start a server on 127.0.0.1:5432 "
        "(Debian: apt-get install postgresql)"
    )
    raise NoServerError(msg)


def _answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False


if __name__ == "__main__":
    try:
        sys.stdout.write(server_url() + "\n")
    except NoServerError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
