"""Django settings; every difference between deployments comes from the environment."""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

from completions.llm.limits import LimitsError, read_limits
from heart_site import schedule, security_settings
from heart_site.monitoring import logs
from heart_site.security_settings import *  # noqa: F403 (settings by their names)

BASE_DIR = Path(__file__).resolve().parent.parent
WEB = ("http", "https")
BROKERS = ("memory", "redis", "rediss")


class WithFiles(FileAwareMapping):  # type: ignore[misc] # (the library has no types)
    """NAME, or the content of the file that NAME_FILE names, without line breaks at its end."""

    # Sites have signed with the line break of their file: without it nothing of theirs would hold.
    WHOLE = ("HEART_SECRET_KEY", "HEART_EVIDENCE_KEY")

    def __getitem__(self, name: str) -> str:
        value: str = super().__getitem__(name)
        return value if name in self.WHOLE else value.rstrip("\r\n")


class Environment(environ.FileAwareEnv):  # type: ignore[misc] # (the library has no types)
    """Values by name; what is not of its kind is refused, and never guessed."""

    ENVIRON = WithFiles()
    TRUTHS = dict.fromkeys(environ.Env.BOOLEAN_TRUE_STRINGS, True) | dict.fromkeys(
        ("false", "off", "n", "no", "0", ""), False
    )
    DATABASES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")

    @classmethod
    def parse_value(cls, value: str, cast: Any) -> Any:  # noqa: ANN401 (the library's signature)
        """Read a value: true, false or a number, never below nothing, only where it says so."""
        if cast is bool:
            return cls.TRUTHS[value.lower().strip()]
        read = float(value) if cast is float else super().parse_value(value, cast)
        if cast in (int, float) and not 0 <= read < math.inf:
            raise ValueError
        return read

    def get_value(self, var: str, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        """Return a value by its name."""
        with naming(var):
            return super().get_value(var, *given, **named)

    def positive(self, name: str, *, default: float) -> Any:  # noqa: ANN401 (as the default is)
        """Return a number above nothing, of the kind of its default."""
        with naming(name):
            if not (found := self.get_value(name, cast=type(default), default=default)):
                raise ValueError
            return found

    def one_of(self, name: str, *choices: str, default: str) -> str:
        """Return one of some words."""
        with naming(name):
            return choices[choices.index(self.str(name, default=default))]

    def address(self, name: str, *schemes: str, default: str) -> str:
        """Return an address of one of these kinds; on the web it has a host."""
        with naming(name):
            found: str = self.str(name, default=default)
            parts = urlsplit(found)
            host, _port = parts.hostname, parts.port  # a port that is no number is refused
            if parts.scheme not in schemes or "://" not in found or not (host or schemes != WEB):
                raise ValueError
            return found

    @classmethod
    def db_url_config(cls, url: str, engine: str | None = None) -> dict[str, Any]:
        """Return what an address of PostgreSQL or SQLite says."""
        if cls.DB_SCHEMES.get(url.partition("://")[0]) not in cls.DATABASES:
            raise ValueError
        found: dict[str, Any] = super().db_url_config(url, engine)
        return found


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Refuse a value by its name alone, since it may hold a password."""
    try:
        yield
    except LimitsError as error:  # it says which provider's, and holds no secret
        raise ImproperlyConfigured(error) from None
    except OSError as error:
        msg = f"{name} cannot be used: {error.strerror}"
        raise ImproperlyConfigured(msg) from None
    except (ValueError, LookupError, ImproperlyConfigured):
        msg = f"{name} is missing or malformed: .env.example says what it may be"
        raise ImproperlyConfigured(msg) from None


env = Environment()

# --- What a deployment sets (see .env.example) ---
SECRET_KEY = env.str("HEART_SECRET_KEY")
CELERY_BROKER_URL = env.address("HEART_BROKER_URL", *BROKERS, default="memory://localhost/")
IS_EMBEDDED = CELERY_BROKER_URL.startswith("memory")  # web pages and workers are one process
DEBUG = env.bool("HEART_DEBUG", default=False)
ALLOWED_HOSTS = env.list("HEART_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("HEART_CSRF_TRUSTED_ORIGINS", default=[])
HEART_HTTPS = env.bool("HEART_HTTPS", default=False)
HEART_DATA_DIR = Path(env.str("HEART_DATA_DIR", default=str(BASE_DIR / "var")))
HEART_BACKUP_DIR = Path(env.str("HEART_BACKUP_DIR", default=str(HEART_DATA_DIR / "backups")))
HEART_OFFLINE_LLM_URL = env.address(
    "HEART_OFFLINE_LLM_URL", *WEB, default="http://127.0.0.1:8899/v1"
)
HEART_LLM_HOSTS = env.list(
    "HEART_LLM_HOSTS", default=["127.0.0.1", "localhost", "::1"] if IS_EMBEDDED else []
)
HEART_LLM_CONCURRENCY = env.positive("HEART_LLM_CONCURRENCY", default=32)
with naming("HEART_LLM_LIMITS"):
    HEART_LLM_LIMITS = read_limits(
        env.str("HEART_LLM_LIMITS", default=""), source="HEART_LLM_LIMITS"
    )
HEART_BOOTSTRAP_REPLICATES = env.positive("HEART_BOOTSTRAP_REPLICATES", default=1000)
HEART_REFIT_SECONDS = env.positive("HEART_REFIT_SECONDS", default=5.0)
HEART_RELEASE_LICENCE = env.str("HEART_RELEASE_LICENCE", default="CC-BY-4.0")
HEART_ANALYSIS_SECONDS = env.float("HEART_ANALYSIS_SECONDS", default=600.0)
HEART_ANALYSIS_PACE_SECONDS = env.float(
    "HEART_ANALYSIS_PACE_SECONDS", default=10.0 if IS_EMBEDDED else 0.0
)
HEART_ADMINS = env.list("HEART_ADMINS", default=[])
HEART_EMAIL_FROM = env.str("HEART_EMAIL_FROM", default="heart@localhost")
with naming("HEART_EMAIL_URL"):
    HEART_EMAIL = env.email_url("HEART_EMAIL_URL", default="consolemail://")
HEART_SITE_URL = env.address("HEART_SITE_URL", *WEB, default="http://127.0.0.1:8000")
HEART_SECOND_FACTOR = env.one_of(
    *("HEART_SECOND_FACTOR", "off", "required"),
    default="off" if IS_EMBEDDED and not HEART_HTTPS else "required",
)
SOCIALACCOUNT_PROVIDERS = security_settings.providers(
    issuer=env.str("HEART_OIDC_ISSUER", default=""),
    client_id=env.str("HEART_OIDC_CLIENT_ID", default=""),
    secret=env.str("HEART_OIDC_CLIENT_SECRET", default=""),
    name=env.str("HEART_OIDC_NAME", default="single sign-on"),
)
HEART_PROLIFIC_SECRET = env.str("HEART_PROLIFIC_SECRET", default="")
HEART_PROLIFIC_TOKEN = env.str("HEART_PROLIFIC_TOKEN", default="")
HEART_PROLIFIC_API_URL = env.address(
    "HEART_PROLIFIC_API_URL", *WEB, default="https://api.prolific.com/api/v1/"
)
HEART_PROLIFIC_KEYS_URL = env.address(
    "HEART_PROLIFIC_KEYS_URL",
    *WEB,
    default="https://api.prolific.com/.well-known/study/jwks.json",
)
HEART_HOOK_HTTP = env.bool("HEART_HOOK_HTTP", default=False)
HEART_HOOK_HOSTS = env.list("HEART_HOOK_HOSTS", default=[])
HEART_EVIDENCE_KEY = env.str("HEART_EVIDENCE_KEY", default=SECRET_KEY)
HEART_RETENTION_CONTACT_MONTHS = env.int("HEART_RETENTION_CONTACT_MONTHS", default=6)
HEART_RETENTION_REASONS_MONTHS = env.int("HEART_RETENTION_REASONS_MONTHS", default=0)
HEART_RETENTION_ADDRESSES_MONTHS = env.int("HEART_RETENTION_ADDRESSES_MONTHS", default=6)
HEART_RETENTION_EVIDENCE_MONTHS = env.int("HEART_RETENTION_EVIDENCE_MONTHS", default=120)
HEART_LOG_LEVEL = env.one_of("HEART_LOG_LEVEL", *logging.getLevelNamesMapping(), default="INFO")
HEART_LOG_FORMAT = env.one_of(
    "HEART_LOG_FORMAT", "line", "json", default="line" if IS_EMBEDDED else "json"
)
HEART_METRICS_TOKEN = env.str("HEART_METRICS_TOKEN", default="")
HEART_TRACES_URL = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
HEART_HEARTBEAT_FILE = env.str("HEART_HEARTBEAT_FILE", default="")

# --- Applications ---
INSTALLED_APPS = [
    "heart_site",
    "ranking",
    "annotation",
    "completions",
    "access",
    # Its tables are found when addresses are read: prompts and workers never need them.
    "heart_site.apps.OwnersAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    *(["allauth.socialaccount.providers.openid_connect"] if SOCIALACCOUNT_PROVIDERS else []),
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
]
MIDDLEWARE = [
    "heart_site.middleware.RequestIdMiddleware",
    # Before static files are served, so that they carry the same headers.
    "django.middleware.security.SecurityMiddleware",
    "heart_site.middleware.FixedHeadersMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pads at random, so that sizes betray no secret
    "heart_site.middleware.HealthMiddleware",  # before the host's name is checked
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "heart_site.middleware.WrongMethodMiddleware",
    "heart_site.middleware.OutageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,  # the stock admin's templates
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ROOT_URLCONF = "heart_site.urls"
WSGI_APPLICATION = "heart_site.wsgi.application"
# Behind TLS stands one proxy, which names the address last; without one nobody is believed.
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if HEART_HTTPS else 0
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "access.api.permissions.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["access.api.permissions.Scoped"],
    "DEFAULT_THROTTLE_CLASSES": ["access.api.permissions.ScopeThrottle"],
    "DEFAULT_SCHEMA_CLASS": "access.api.schema.ScopedSchema",
    "EXCEPTION_HANDLER": "access.api.errors.handle",
    "NUM_PROXIES": ALLAUTH_TRUSTED_PROXY_COUNT,
    "URL_FORMAT_OVERRIDE": None,
}
HEART_ENTRY_RATE = env.int("HEART_ENTRY_RATE", default=1000)
HEART_WRONG_LINK_RATE = env.int("HEART_WRONG_LINK_RATE", default=60)
HEART_API_RATES = {
    "anonymous": env.int("HEART_API_RATE_ANONYMOUS", default=60),
    "read": env.int("HEART_API_RATE_READ", default=600),
    "write": env.int("HEART_API_RATE_WRITE", default=120),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "HEART",
    "DESCRIPTION": "Studies, judgments and ratings. See docs/api.md.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "DISABLE_ERRORS_AND_WARNINGS": False,
    "ENUM_NAME_OVERRIDES": {
        "StudyStateEnum": "annotation.choices.StudyState",
        "FitStateEnum": "ranking.choices.FitState",
        "ReleaseStateEnum": "ranking.choices.ReleaseState",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "access.api.schema.add_problems",
    ],
}
# What processes share: counts of requests and of failed sign-ins, codes used. "own" is each's own.
CACHES = {
    "own": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "own"},
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # of 300 visitors no lock would be left
    }
    if IS_EMBEDDED
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CELERY_BROKER_URL,
        # A server that is away must not hold a page up.
        "OPTIONS": {"socket_connect_timeout": 1.0, "socket_timeout": 1.0},
        "KEY_PREFIX": env.str("HEART_BROKER_PREFIX", default="heart:") + "cache",
    },
}

# --- Database: PostgreSQL by DATABASE_URL, SQLite as the embedded default ---
with naming("DATABASE_URL"):
    SQLITE = f"sqlite:///{(HEART_DATA_DIR / 'heart.sqlite3').as_posix()}"
    database_url = env.str("DATABASE_URL", default="")
    DATABASES = {"default": env.db_url_config(database_url or SQLITE)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    with naming("DATABASE_URL" if database_url else "HEART_DATA_DIR"):
        Path(DATABASES["default"]["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        # One writer at a time from the first statement on: the same claims stay correct without
        # row locks, and a busy database is waited for instead of failing (ADR-0014).
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["ENGINE"] = "heart_site.postgresql"
    DATABASES["default"].setdefault("CONN_MAX_AGE", 60)
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # A host that is gone answers nothing: threads must not wait for it as long as the system would.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": 60_000,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Language and time ---
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files ---
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns at each start about a missing folder
WHITENOISE_USE_FINDERS = True  # so that a checkout serves its files without a build step
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": env.str(
            "HEART_STATIC_STORAGE",
            default="django.contrib.staticfiles.storage.StaticFilesStorage",
        )
    },
}

# --- Security ---
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HEART_HTTPS
CSRF_FAILURE_VIEW = "heart_site.views.csrf_failure"
SESSION_COOKIE_NAME = security_settings.cookie_name("sessionid", is_https=HEART_HTTPS)
CSRF_COOKIE_NAME = security_settings.cookie_name("csrftoken", is_https=HEART_HTTPS)
SECURE_HSTS_SECONDS = 31_536_000 if HEART_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HEART_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # asked from inside, past the proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HEART_HTTPS else None

# --- Celery: the database is the truth, messages are only a nudge (ADR-0004) ---
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT = "heart_site.embedded.broker:Transport" if IS_EMBEDDED else None
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {}
    if IS_EMBEDDED
    else {
        "visibility_timeout": 900,
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "global_keyprefix": env.str("HEART_BROKER_PREFIX", default="heart:"),
    }
)
CELERY_TASK_QUEUES = schedule.QUEUES
CELERY_TASK_DEFAULT_QUEUE = schedule.MAINTENANCE
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_ROUTES = schedule.ROUTES
CELERY_TASK_ANNOTATIONS = {"*": {"expires": schedule.HOUR_S}}  # what names no time of its own
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 540
CELERY_TASK_TIME_LIMIT = 600
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "heart_site.monitoring.heartbeats.Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = schedule.BEAT_SLEEPS_S
CELERY_BEAT_SCHEDULE = schedule.beat_schedule(
    refit_seconds=HEART_REFIT_SECONDS,
    review_seconds=env.positive("HEART_REVIEW_SECONDS", default=600.0),
)

# --- Mail: to writers about their writing, to admins about reports of raters ---
EMAIL_BACKEND = HEART_EMAIL["EMAIL_BACKEND"]
EMAIL_HOST = HEART_EMAIL["EMAIL_HOST"] or "localhost"
EMAIL_PORT = HEART_EMAIL["EMAIL_PORT"] or 25
EMAIL_HOST_USER = HEART_EMAIL["EMAIL_HOST_USER"] or ""
EMAIL_HOST_PASSWORD = HEART_EMAIL["EMAIL_HOST_PASSWORD"] or ""
EMAIL_USE_TLS = HEART_EMAIL.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = HEART_EMAIL.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = HEART_EMAIL["EMAIL_FILE_PATH"] or None
EMAIL_TIMEOUT = 10  # seconds; the queue of the ticks must not wait for a mail server

# --- Logs: to standard error; never dialogue or rationale text ---
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "heart_site.monitoring.logs.LineFormatter"},
        "json": {"()": "heart_site.monitoring.logs.JsonFormatter"},
    },
    "filters": {
        "id": {"()": lambda: logs.add_id},
        "idle": {"()": lambda: logs.IdleTasks(schedule.LOOKING)},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": HEART_LOG_FORMAT,
            "filters": ["id"],
        }
    },
    "root": {"handlers": ["stderr"], "level": HEART_LOG_LEVEL},
    "loggers": {
        # A visitor's mistake (4xx) is the visitor's to read, not the operator's.
        "django.request": {"level": "ERROR"},
        "django.security.RequestDataTooBig": {"level": "CRITICAL"},
        **{name: {"filters": ["idle"]} for name in logs.OF_CELERY},
    },
}
