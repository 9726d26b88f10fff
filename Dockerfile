# One image for web, workers and beat. Built in two stages; runs as nobody in particular, on a root
# that may be read-only: only /tmp, /data and /backups are written to.
FROM python:3.13.14-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/heart
COPY requirements.lock ./
RUN /opt/heart/bin/python -m pip install --require-hashes --no-deps -r requirements.lock

FROM python:3.13.14-slim-bookworm
ENV PATH=/opt/heart/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HEART_STATIC_STORAGE=whitenoise.storage.CompressedManifestStaticFilesStorage
# pg_dump of backups must not be older than the server of docker-compose.yml.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install --yes --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --no-create-home heart \
    && mkdir /backups /data && chown heart /backups /data
WORKDIR /app
COPY --from=build /opt/heart /opt/heart
COPY manage.py pyproject.toml ./
COPY heart_site heart_site
COPY access access
COPY completions completions
COPY annotation annotation
COPY ranking ranking
COPY templates templates
COPY static static
RUN HEART_SECRET_KEY=build HEART_DATA_DIR=/tmp/build python manage.py collectstatic --noinput \
    && rm -rf /tmp/build
USER heart
EXPOSE 8000
CMD ["python", "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--blocking-threads", "4", "--blocking-threads-idle-timeout", "600", "--respawn-failed-workers", "--workers-kill-timeout", "8", "--log-config", "heart_site/monitoring/granian.json", "heart_site.wsgi:application"]
