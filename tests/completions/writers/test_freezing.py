"""A frozen dataset takes no text, and keeps every draft."""

import pytest

from access.models import LogEntry
from completions.choices import LeaseOutcome
from completions.models import Dataset, WritingLease
from completions.writers import queries, services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_vetting
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import completion_of

pytestmark = pytest.mark.django_db


def freeze(dataset, *, by=None, now=NOW):
    return services.freeze_dataset(dataset=dataset, by=by, now=now)


def thaw(dataset, *, by=None, now=NOW + HOUR):
    return services.thaw_dataset(dataset=dataset, by=by, now=now)


def stored(lease):
    return WritingLease.objects.select_related("context").get(pk=lease.pk)


def frozen_at(dataset):
    return Dataset.objects.get(pk=dataset.pk).frozen_at


class TestFreezing:
    def test_gives_open_claims_back_and_keeps_their_drafts(self):
        lease = make_writing_lease(draft="I was about to")
        before = lease.context.slots_left

        n = freeze(lease.context.dataset, now=NOW + HOUR)

        lease = stored(lease)
        assert n == 1
        assert (lease.closed_at, lease.outcome) == (NOW + HOUR, LeaseOutcome.RELEASED)
        assert lease.draft == "I was about to"
        assert lease.context.slots_left == before + 1

    def test_leaves_claims_on_other_datasets_and_closed_ones_alone(self):
        other = make_writing_lease()
        closed = make_writing_lease(closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)

        n = freeze(closed.context.dataset)

        assert n == 0
        assert stored(other).closed_at is None
        assert stored(closed).outcome == LeaseOutcome.SUBMITTED

    def test_leaves_a_trial_dialogue_with_its_writer(self):
        vetting = make_vetting(1)
        dataset = make_dataset(vetting=vetting)
        dialogue = vetting.contexts.get()
        newcomer = make_writing_lease().writer
        newcomer.leases.all().delete()
        newcomer.dataset = dataset
        newcomer.save()
        trial = make_writing_lease(context=dialogue, writer=newcomer, is_trial=True)

        freeze(dataset)

        assert stored(trial).closed_at is None

    def test_keeps_drafts_that_can_be_sent_once_it_is_thawed(self):
        lease = make_writing_lease(draft="I was about to")
        dataset = lease.context.dataset

        freeze(dataset)
        frozen = list(queries.stranded_leases(lease.writer))
        thaw(dataset)

        assert frozen == []
        assert list(queries.stranded_leases(lease.writer)) == [lease]

    def test_says_in_the_log_who_did_it_and_what_it_ended(self):
        lease, by = make_writing_lease(), make_user()

        freeze(lease.context.dataset, by=by)

        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("dataset.frozen", by, NOW)
        assert entry.subject == f"dataset {lease.context.dataset.slug}"
        assert entry.after == {"given back": 1}

    def test_again_changes_nothing(self):
        dataset = make_dataset()
        freeze(dataset)

        assert freeze(dataset, now=NOW + HOUR) == 0

        assert frozen_at(dataset) == NOW
        assert LogEntry.objects.count() == 1

    def test_stops_claims(self):
        writer = make_writing_lease().writer
        freeze(writer.dataset)

        with pytest.raises(services.DatasetFrozenError):
            services.lease_next_context(writer=writer, now=NOW)

    def test_takes_a_fixed_number_of_queries_and_one_per_claim(self, django_assert_max_num_queries):
        dataset = make_dataset()

        with django_assert_max_num_queries(7):
            freeze(dataset)


class TestThawing:
    def test_lets_people_write_again(self):
        lease = make_writing_lease()
        freeze(lease.context.dataset)

        assert thaw(lease.context.dataset)

        assert frozen_at(lease.context.dataset) is None
        other = make_writing_lease(context=lease.context).writer
        other.leases.all().delete()
        assert services.lease_next_context(writer=other, now=NOW) is not None

    def test_leaves_what_is_compared_fixed(self):
        completion = completion_of(make_accepted())
        completion.fixed_at = NOW
        completion.save()
        freeze(completion.context.dataset)

        thaw(completion.context.dataset)

        completion.refresh_from_db()
        assert completion.fixed_at == NOW

    def test_says_in_the_log_since_when_it_was_frozen(self):
        dataset, by = make_dataset(), make_user()
        freeze(dataset)

        thaw(dataset, by=by)

        entry = LogEntry.objects.order_by("-pk")[0]
        assert (entry.action, entry.by) == ("dataset.thawed", by)
        assert entry.before == {"frozen": NOW.isoformat()}

    def test_of_what_is_not_frozen_changes_nothing(self):
        assert not thaw(make_dataset())

        assert not LogEntry.objects.exists()
