"""What an admin sets for a pool holds from then on, and is in the log."""

import pytest

from completions import services
from completions.models import LogEntry
from tests.factories import NOW, make_dataset
from tests.factories_written_once import make_user

pytestmark = pytest.mark.django_db


class TestConfigurePool:
    def test_stores_the_settings_and_what_was_before(self):
        dataset, by = make_dataset(most_adversarial=25), make_user()

        services.configure_pool(
            dataset=dataset, most_adversarial=40, offers_own_systems=True, now=NOW, by=by
        )

        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.offers_own_systems) == (40, True)
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("pool.configured", by, NOW)
        assert entry.subject == f"dataset {dataset.slug}"
        assert entry.before == {"most_adversarial": 25, "offers_own_systems": False}
        assert entry.after == {"most_adversarial": 40, "offers_own_systems": True}

    def test_logs_nothing_where_nothing_changes(self):
        dataset = make_dataset(most_adversarial=25)

        services.configure_pool(
            dataset=dataset, most_adversarial=25, offers_own_systems=False, now=NOW
        )

        assert not LogEntry.objects.exists()
