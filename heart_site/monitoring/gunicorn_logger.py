"""How the web server writes its own lines: like the rest of the log, and without addresses."""

import os

from gunicorn import glogging
from gunicorn.config import Config

from heart_site.monitoring.logs import JsonFormatter, LineFormatter, add_id

REFUSED = "Invalid request"


class Logger(glogging.Logger):
    """Gunicorn's logger with the formats of the site.

    It lives in a process that has not read the settings, so it asks the environment itself.
    """

    def setup(self, cfg: Config) -> None:
        """Take over the handlers that gunicorn has made."""
        super().setup(cfg)
        is_json = os.environ.get("HEART_LOG_FORMAT", "json") == "json"
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter() if is_json else LineFormatter())
            handler.addFilter(add_id)

    def exception(self, msg: str, *_address: object, **options: object) -> None:
        """Log an error without the address, which may hold a link that lets a person in."""
        super().exception(msg.partition(" %")[0], **options)

    def warning(self, msg: str, *args: object, **options: object) -> None:
        """Log a warning; of a request that cannot be read neither who sent it nor what it said."""
        super().warning(*((REFUSED,) if msg.startswith(REFUSED) else (msg, *args)), **options)
