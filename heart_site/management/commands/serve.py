"""Start the embedded default: web server, worker, beat and offline provider in one process."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from completions.management.acting import refusing
from heart_site.embedded import process


class Command(BaseCommand):
    """Serve the site on this machine until Ctrl-C."""

    help = "Serve the site on this machine, with a worker and the periodic tasks, until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the port."""
        parser.add_argument("--port", type=int, default=8000, help="0 lets the system choose.")

    def handle(self, *, port: int, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Bring the tables up to date, then serve."""
        call_command("migrate", verbosity=0)
        with (
            refusing(process.NoFreePortError),
            process.background(),
            process.web(port=port) as (address, serve),
        ):
            process.announce_port(self.stdout, port=port, address=address)
            self.stdout.write(f"HEART is at {address}/ (console: {address}/console/)")
            self.stdout.write("Ctrl-C stops it; queued work goes on at the next start.")
            self.stdout.flush()
            serve()
        self.stdout.write("Stopped.")
