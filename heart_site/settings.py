"""Django settings; every difference between deployments comes from the environment."""

from pathlib import Path

import environ

from completions.limiting import read_limits
from heart_site import schedule

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.FileAwareEnv()  # NAME, or the content of the file that NAME_FILE names

# --- What a deployment sets (see .env.example) ---
SECRET_KEY = env.str("HEART_SECRET_KEY")
CELERY_BROKER_URL = env.str("HEART_BROKER_URL", default="memory://localhost/")
IS_EMBEDDED = CELERY_BROKER_URL.startswith("memory")  # web pages and workers are one process
DEBUG = env.bool("HEART_DEBUG", default=False)
ALLOWED_HOSTS = env.list("HEART_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("HEART_CSRF_TRUSTED_ORIGINS", default=[])
HEART_HTTPS = env.bool("HEART_HTTPS", default=False)
HEART_DATA_DIR = Path(env.str("HEART_DATA_DIR", default=str(BASE_DIR / "var")))
HEART_OFFLINE_LLM_URL = env.str("HEART_OFFLINE_LLM_URL", default="http://127.0.0.1:8899/v1")
HEART_LLM_CONCURRENCY = env.int("HEART_LLM_CONCURRENCY", default=32)
HEART_LLM_LIMITS = read_limits(env.str("HEART_LLM_LIMITS", default=""), source="HEART_LLM_LIMITS")
HEART_BOOTSTRAP_REPLICATES = env.int("HEART_BOOTSTRAP_REPLICATES", default=1000)
HEART_ANALYSIS_SECONDS = env.float("HEART_ANALYSIS_SECONDS", default=600.0)
HEART_ANALYSIS_PACE_SECONDS = env.float(
    "HEART_ANALYSIS_PACE_SECONDS", default=10.0 if IS_EMBEDDED else 0.0
)
HEART_ADMINS = env.list("HEART_ADMINS", default=[])
HEART_EMAIL_FROM = env.str("HEART_EMAIL_FROM", default="heart@localhost")
HEART_EMAIL = env.email_url("HEART_EMAIL_URL", default="consolemail://")
HEART_SITE_URL = env.str("HEART_SITE_URL", default="http://127.0.0.1:8000")
HEART_PROLIFIC_SECRET = env.str("HEART_PROLIFIC_SECRET", default="")
HEART_LOG_LEVEL = env.str("HEART_LOG_LEVEL", default="INFO")

# --- Applications ---
INSTALLED_APPS = [
    "heart_site",
    "ranking",
    "annotation",
    "completions",
    # Its tables are found when addresses are read: prompts and workers never need them.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pads at random, so that sizes betray no secret
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
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
LOGIN_URL = "admin:login"
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
}

# --- Database: PostgreSQL by DATABASE_URL, SQLite as the embedded default ---
DATABASES = {
    "default": env.db(
        "DATABASE_URL", default=f"sqlite:///{(HEART_DATA_DIR / 'heart.sqlite3').as_posix()}"
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    Path(DATABASES["default"]["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        # One writer at a time from the first statement on: the same claims stay correct without
        # row locks, and a busy database is waited for instead of failing (ADR-0014).
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
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
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HEART_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HEART_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HEART_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HEART_HTTPS else None
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- Celery: the database is the truth, messages are only a nudge (ADR-0004) ---
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.05}  # the default of one second stalls an in-process broker
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
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 540
CELERY_TASK_TIME_LIMIT = 600
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE = schedule.beat_schedule(
    wake_seconds=env.float("HEART_WAKE_SECONDS", default=2.0),
    refit_seconds=env.float("HEART_REFIT_SECONDS", default=5.0),
    review_seconds=env.float("HEART_REVIEW_SECONDS", default=600.0),
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
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": HEART_LOG_LEVEL},
    # A visitor's mistake (4xx) is the visitor's to read, not the operator's.
    "loggers": {"django.request": {"level": "ERROR"}},
}
