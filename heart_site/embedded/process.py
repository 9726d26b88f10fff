"""The embedded default: web server, worker, beat and offline provider in one process (ADR-0014).

For a laptop: SQLite and an in-process broker, no Redis. The rows are the queue, so nothing is lost
when the process ends; the next start finds the same rows.
"""

import errno
import fcntl
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from celery.beat import Scheduler, Service
from celery.worker import WorkController
from django.conf import settings
from django.core.management.base import OutputWrapper
from django.db import connection
from waitress.server import create_server

from completions import llm, offline
from completions.jobs import services as job_services
from completions.runs import pulling
from completions.runs.services import running as run_services
from heart_site import schedule
from heart_site.celery import app as celery_app
from heart_site.celery import nudge_for
from heart_site.wsgi import application
from ranking.fits import services as fit_services
from ranking.report import services as report_services

HOST = "127.0.0.1"
PORTS_TO_TRY = 20
USUAL_ADDRESS = f"http://{HOST}:8000"
"""What ``HEART_SITE_URL`` says where nobody set it."""
WEB_THREADS = 8
WORKER_THREADS = 4
READY_SECONDS = 120.0


class NoFreePortError(Exception):
    """All the ports that were tried are taken."""


class _Worker(WorkController):
    """A worker that tells when it has begun to consume."""

    ready: threading.Event

    def on_consumer_ready(self, consumer: object) -> None:  # noqa: ARG002 (Celery's signature)
        """Tell it; Celery sends no signal for a worker in a thread."""
        self.ready.set()


@contextmanager
def background() -> Iterator[None]:
    """Run the offline provider, a worker and beat for the length of the block."""
    # Also where the parent ignores them, as shells do for processes in their background.
    for polite in (signal.SIGINT, signal.SIGTERM):
        signal.signal(polite, _interrupt)
    # Threads of the pool look the application up here; without it their tasks would vanish.
    celery_app.set_default()
    with _folder_in_use(), offline.serving() as base_url:
        settings.HEART_OFFLINE_LLM_URL = base_url
        pulling.STOPPING.clear()
        threading.Thread(target=llm.warm_up, name="warm-up", daemon=True).start()
        worker = _start_worker()
        nudge_for(celery_app.amqp.queues.consume_from)
        beat = Service(celery_app, scheduler_cls=Scheduler)
        threading.Thread(target=beat.start, name="beat", daemon=True).start()
        try:
            yield
        finally:
            pulling.STOPPING.set()  # a pull ends with the calls in flight
            beat.stop()
            worker.stop()


@contextmanager
def web(*, port: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Bind a web server and yield its address and the function that serves until Ctrl-C.

    If ``port`` is taken, the next free one is used. Port 0 lets the system choose. Links in mails
    lead to the port that was found, unless ``HEART_SITE_URL`` names another place.

    Raises
    ------
    NoFreePortError
        If the ports after it are taken as well.
    """
    listener = _listen(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    if settings.HEART_SITE_URL == USUAL_ADDRESS:
        settings.HEART_SITE_URL = address
    server = create_server(application, sockets=[listener], threads=WEB_THREADS)
    try:
        yield address, server.run
    finally:
        server.close()


def announce_port(out: OutputWrapper, *, port: int, address: str) -> None:
    """Say so if the site is not where it was asked to be."""
    if port and not address.endswith(f":{port}"):
        out.write(f"Port {port} is taken, so the site uses the next free one.\n")


@contextmanager
def _folder_in_use() -> Iterator[None]:
    """Mark the data folder as in use; if nobody else does, free what dead workers held.

    The system drops the mark when a process ends in whatever way, so that after a kill the
    claims need not be waited for. Claims of a process that lives are left to it, and so are all
    claims in a database that other machines may work on.
    """
    settings.HEART_DATA_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.HEART_DATA_DIR / "in-use").open("w") as mark:
        with suppress(BlockingIOError):
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if connection.vendor == "sqlite":
                run_services.forget_claims()
                job_services.forget_job_claims()
                fit_services.forget_fit_claims()
                report_services.forget_analysis_claims()
        fcntl.flock(mark, fcntl.LOCK_SH)
        yield


def _start_worker() -> WorkController:
    worker = _Worker(
        app=celery_app,
        pool="threads",
        concurrency=WORKER_THREADS,
        queues=list(schedule.QUEUES),
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        prefetch_multiplier=0,  # nobody else could take what waits here for a thread
    )
    worker.ready = threading.Event()
    threading.Thread(target=worker.start, name="worker", daemon=True).start()
    if not worker.ready.wait(READY_SECONDS):
        msg = f"the worker did not start within {READY_SECONDS:.0f} s"
        raise RuntimeError(msg)
    return worker


def _listen(port: int) -> socket.socket:
    for candidate in [0] if port == 0 else range(port, port + PORTS_TO_TRY):
        try:
            return socket.create_server((HOST, candidate))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    msg = f"ports {port} to {port + PORTS_TO_TRY - 1} are all taken; choose one with --port"
    raise NoFreePortError(msg)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Treat every polite request to end like Ctrl-C."""
    raise KeyboardInterrupt
