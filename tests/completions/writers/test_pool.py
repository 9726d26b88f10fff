"""What an admin sets for a pool holds from then on, and is in the log."""

import pytest

from access.models import LogEntry
from completions.writers import services
from tests.helpers.factories import NOW, make_dataset
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import make_open_context, slots_of

pytestmark = pytest.mark.django_db


def set_messages(dataset, n):
    settings = services.PoolSettings(n, 25, offers_own_systems=False)
    return services.configure_pool(dataset=dataset, settings=settings, now=NOW)


class TestConfigurePool:
    def test_stores_the_settings_and_what_was_before(self):
        dataset, by = make_dataset(most_adversarial=25), make_user()

        settings = services.PoolSettings(5, 40, offers_own_systems=True, host={"lab": "L"})
        services.configure_pool(dataset=dataset, settings=settings, now=NOW, by=by)

        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.offers_own_systems) == (40, True)
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("pool.configured", by, NOW)
        assert entry.subject == f"dataset {dataset.slug}"
        assert entry.before == {
            "completions_per_context": 3,
            "most_adversarial": 25,
            "offers_own_systems": False,
            "host": {},
        }
        assert entry.after == {
            "completions_per_context": 5,
            "most_adversarial": 40,
            "offers_own_systems": True,
            "host": {"lab": "L"},
        }

    def test_logs_nothing_where_nothing_changes(self):
        dataset = make_dataset(most_adversarial=25)

        set_messages(dataset, 3)

        assert not LogEntry.objects.exists()

    @pytest.mark.parametrize(("n", "left"), [(5, (4, 5)), (2, (1, 2)), (1, (0, 1))])
    def test_frees_slots_of_every_dialogue_or_takes_them_back(self, n, left):
        dataset = make_dataset()
        begun, fresh = (make_open_context(dataset, slots_left=one) for one in (2, 3))
        other = make_open_context(make_dataset(), slots_left=3)

        set_messages(dataset, n)

        assert (slots_of(begun), slots_of(fresh), slots_of(other)) == (*left, 3)

    def test_refuses_fewer_messages_than_were_written_and_changes_nothing(self):
        dataset = make_dataset()
        full, fresh = (make_open_context(dataset, slots_left=one) for one in (0, 3))

        with pytest.raises(services.MessagesTakenError) as refused:
            set_messages(dataset, 2)

        dataset.refresh_from_db()
        assert refused.value.n_dialogues == 1
        assert (dataset.completions_per_context, slots_of(full), slots_of(fresh)) == (3, 0, 3)
