"""What browsers are held to and how much is taken in: the same in every deployment.

Names are those of the libraries; ``settings.py`` takes them over as they stand.
"""

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

CSRF_COOKIE_HTTPONLY = True  # forms carry the token; no script reads it
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_AGE = (
    90 * 24 * 60 * 60
)  # as long as a rater's credential: a page left open can still send

DATA_UPLOAD_MAX_MEMORY_SIZE = 8_000_000
"""Bytes of a request without files: 1,000 completions of 4,000 characters, in most languages."""
FILE_UPLOAD_HANDLERS = [
    "heart_site.middleware.uploads.BoundedUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]


def cookie_name(name: str, *, is_https: bool) -> str:
    """Return the name of a cookie of the whole site.

    Under ``__Host-`` a browser takes it from this host alone, and only over HTTPS.
    """
    return f"__Host-{name}" if is_https else name
