"""The WSGI application."""

from django.core.wsgi import get_wsgi_application

import access.background  # noqa: F401 (so that the first nudge of a process need not load Celery)

application = get_wsgi_application()
