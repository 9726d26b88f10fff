"""What a web server on a read replica can show: here a transaction that may not write."""

import pytest
from django.db import InternalError, connection, transaction
from django.urls import reverse

from completions.models import System
from ranking.fits import services
from tests.helpers.factories import make_system
from tests.helpers.judged import make_judged_study
from tests.helpers.rated import close

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no replicas"),
]


@pytest.fixture
def study(now):
    """A study with results, after which nothing may be written."""
    study = make_judged_study(systems=[make_system(name=name) for name in ("Ash", "Beech")])
    services.refit_study(study=study, clock=lambda: now)
    close(study)
    connection.check_constraints()  # what waits for the end would lock rows
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
    return study


def test_a_replica_refuses_to_write(study):
    with pytest.raises(InternalError, match="read-only"), transaction.atomic():
        System.objects.update(name="Other")


@pytest.mark.parametrize(
    "page", ["leaderboard", "fits", "history", "history_csv", "verdicts", "verdicts_csv"]
)
def test_results_are_shown_without_writing(page, study, client):
    assert client.get(reverse(f"ranking:{page}", args=[study.slug])).status_code == 200


@pytest.mark.parametrize("page", ["alive", "ready", "home"])
def test_a_replica_is_healthy(page, study, client):
    assert client.get(reverse(page)).status_code in {200, 302}
