# One image for web, workers and beat. Built in two stages; runs as nobody in particular.
FROM python:3.13-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/heart
COPY requirements.lock .
RUN /opt/heart/bin/python -m pip install --require-hashes -r requirements.lock

FROM python:3.13-slim-bookworm
ENV PATH=/opt/heart/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HEART_STATIC_STORAGE=whitenoise.storage.CompressedManifestStaticFilesStorage
RUN useradd --system --uid 10001 --no-create-home heart
WORKDIR /app
COPY --from=build /opt/heart /opt/heart
COPY manage.py pyproject.toml ./
COPY heart_site heart_site
COPY completions completions
COPY annotation annotation
COPY ranking ranking
COPY templates templates
COPY static static
RUN HEART_SECRET_KEY=build HEART_DATA_DIR=/tmp/build python manage.py collectstatic --noinput \
    && rm -rf /tmp/build
USER heart
EXPOSE 8000
CMD ["gunicorn", "heart_site.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", "--threads", "4"]
