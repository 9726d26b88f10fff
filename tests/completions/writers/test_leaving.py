"""Writers pause, go on and leave, and datasets are frozen; what was sent and begun stays."""

import pytest

from access.models import LogEntry
from completions.choices import LeaseOutcome, MailKind, MessageState, WriterState
from completions.models import Context, Dataset, Message, WriterMail, WritingLease
from completions.writers import queries
from completions.writers.services import leaving
from completions.writers.services.leasing import WriterNotActiveError, lease_next_context
from completions.writers.services.leaving import pause_writer, resume_writer
from completions.writers.services.pool import freeze_dataset, thaw_dataset
from tests.completions.writers.desk import SENT, make_newcomer, run_writers
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_mail, make_sent
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import fix, make_read

pytestmark = pytest.mark.django_db


def pause(writer, by=None):
    return pause_writer(writer=writer, now=NOW, by=by)


def resume(writer, by=None):
    return resume_writer(writer=writer, now=NOW, by=by)


def leave(writer):
    return leaving.leave(writer=writer, now=NOW)


class TestPausing:
    def test_of_ones_own_can_be_ended_by_oneself_and_is_logged_once(self):
        writer = make_writer()

        paused = pause(writer)
        assert (paused.state, paused.may_resume) == (WriterState.PAUSED, True)
        assert pause(writer).state == WriterState.PAUSED
        assert resume(writer).state == WriterState.ACTIVE
        assert resume(writer).state == WriterState.ACTIVE

        actions = LogEntry.objects.order_by("pk").values_list("action", flat=True)
        assert list(actions) == ["writer.paused", "writer.resumed"]

    def test_by_an_admin_can_be_ended_by_an_admin_alone(self, admin):
        writer = pause(make_writer(), by=admin)

        with pytest.raises(WriterNotActiveError):
            resume(writer)
        assert resume(writer, by=admin).state == WriterState.ACTIVE

    def test_by_an_admin_outweighs_a_pause_of_ones_own(self, admin):
        writer = pause(make_writer())
        pause(writer, by=admin)
        pause(writer)

        with pytest.raises(WriterNotActiveError):
            resume(writer)

    def test_leaves_the_dialogue_with_the_writer(self):
        lease = make_writing_lease(draft="I hear")

        pause(lease.writer)

        lease.refresh_from_db()
        assert (lease.closed_at, lease.draft) == (None, "I hear")


@pytest.mark.parametrize(
    ("act", "state"),
    [(pause, "INVITED"), (pause, "LEFT"), (pause, "REFUSED"), (leave, "INVITED")],
)
def test_a_pause_or_leaving_is_for_those_who_are_here(act, state):
    with pytest.raises(WriterNotActiveError):
        act(make_writer(state=state))


class TestGoingOn:
    def test_leads_a_newcomer_back_to_profile_or_trial_also_after_leaving(self, admin):
        paused, left = (make_newcomer(background="PEER") for _ in range(2))

        unknown = make_writer(state=WriterState.PROFILING, admitted_at=None)

        assert resume(pause(unknown)).state == WriterState.PROFILING
        assert resume(pause(paused)).state == WriterState.VETTING
        assert resume(leave(left), by=admin).state == WriterState.VETTING

    def test_lets_a_newcomer_in_where_nobody_is_tried_any_more(self):
        newcomer = make_newcomer(dataset=make_dataset(), background="PEER")

        writer = resume(pause(newcomer))

        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)

    def test_is_for_those_who_left_only_where_an_admin_takes_them_back(self, admin):
        writer = leave(make_writer())
        with pytest.raises(WriterNotActiveError):
            resume(writer)

        writer = resume(writer, by=admin)

        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)
        entry = LogEntry.objects.get(action="writer.taken_back")
        assert (entry.by, entry.before) == (admin, {"state": WriterState.LEFT})

    @pytest.mark.parametrize("state", [WriterState.REFUSED, WriterState.WITHDRAWN])
    def test_is_for_nobody_who_was_refused_or_withdrew(self, admin, state):
        with pytest.raises(WriterNotActiveError):
            resume(make_writer(state=state), by=admin)


class TestLeaving:
    def test_gives_the_open_dialogue_to_somebody_else_once(self):
        lease = make_writing_lease(draft="I hear")
        free = lease.context.slots_left

        for _ in range(2):
            assert leave(lease.writer).state == WriterState.LEFT

        assert Context.objects.get().slots_left == free + 1
        assert WritingLease.objects.get().outcome == LeaseOutcome.RELEASED
        assert LogEntry.objects.filter(action="writer.left").count() == 1

    def test_takes_no_slot_of_a_trial_dialogue(self):
        lease = make_writing_lease(is_trial=True)
        free = lease.context.slots_left

        leave(lease.writer)

        assert Context.objects.get().slots_left == free

    def test_lets_what_was_sent_back_lapse_and_frees_its_place(self):
        message = make_sent(state=MessageState.RETURNED)
        free = message.lease.context.slots_left

        leave(message.lease.writer)

        assert Message.objects.get().state == MessageState.LAPSED
        assert Context.objects.get().slots_left == free + 1

    def test_keeps_the_text_that_was_accepted_before_a_revision_was_sent_back(self):
        message = make_accepted()
        Message.objects.update(state=MessageState.RETURNED)
        free = message.lease.context.slots_left

        leave(message.lease.writer)

        assert Message.objects.get().state == MessageState.ACCEPTED
        assert Context.objects.get().slots_left == free

    @pytest.mark.parametrize("state", [MessageState.WAITING, MessageState.REJECTED])
    def test_leaves_what_waits_or_is_decided_alone(self, state):
        message = make_sent(state=state)

        leave(message.lease.writer)

        assert Message.objects.get().state == state

    def test_deletes_the_mails_that_wait_and_keeps_those_that_went(self):
        writer = make_writer(email="ada@example.org")
        went = make_mail(writer=writer, claimed_at=NOW, sent_at=NOW)
        make_mail(writer=writer, kind=MailKind.RETURNED)

        leave(writer)

        assert list(WriterMail.objects.all()) == [went]


def freeze(dataset, *, by=None, now=NOW):
    return freeze_dataset(dataset=dataset, by=by, now=now)


def thaw(dataset, *, by=None, now=NOW + HOUR):
    return thaw_dataset(dataset=dataset, by=by, now=now)


def stored(lease):
    return WritingLease.objects.select_related("context").get(pk=lease.pk)


def frozen_at(dataset):
    return Dataset.objects.get(pk=dataset.pk).frozen_at


class TestFreezing:
    def test_gives_open_claims_back_with_their_drafts_and_says_so_in_the_log(self):
        lease, by = make_writing_lease(draft="I was about to"), make_user()
        before, dataset = lease.context.slots_left, lease.context.dataset

        n = freeze(dataset, by=by, now=NOW + HOUR)

        lease = stored(lease)
        assert n == 1
        assert (lease.closed_at, lease.outcome) == (NOW + HOUR, LeaseOutcome.RELEASED)
        assert lease.draft == "I was about to"
        assert lease.context.slots_left == before + 1
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("dataset.frozen", by, NOW + HOUR)
        assert (entry.subject, entry.after) == (f"dataset {dataset.slug}", {"given back": 1})

    def test_leaves_claims_on_other_datasets_and_closed_ones_alone(self):
        other = make_writing_lease()
        closed = make_writing_lease(**SENT)

        n = freeze(closed.context.dataset)

        assert n == 0
        assert stored(other).closed_at is None
        assert stored(closed).outcome == LeaseOutcome.SUBMITTED

    def test_leaves_a_trial_dialogue_with_its_writer(self):
        newcomer = make_newcomer(1)
        context = newcomer.dataset.vetting.contexts.get()
        trial = make_writing_lease(context=context, writer=newcomer, is_trial=True)

        freeze(newcomer.dataset)

        assert stored(trial).closed_at is None

    def test_keeps_drafts_that_can_be_sent_once_it_is_thawed(self):
        lease = make_writing_lease(draft="I was about to")
        dataset = lease.context.dataset

        freeze(dataset)
        frozen = list(queries.stranded_leases(lease.writer))
        thaw(dataset)

        assert frozen == []
        assert list(queries.stranded_leases(lease.writer)) == [lease]

    def test_again_changes_nothing(self, dataset):
        freeze(dataset)

        assert freeze(dataset, now=NOW + HOUR) == 0

        assert frozen_at(dataset) == NOW
        assert LogEntry.objects.count() == 1

    def test_takes_a_fixed_number_of_queries_and_one_per_claim(
        self, dataset, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(7):
            freeze(dataset)


class TestFreezingByCommand:
    def test_tells_what_it_ended_and_what_is_left_and_then_since_when(self, dataset):
        make_read(dataset)
        make_read(dataset, state=MessageState.RETURNED)
        make_writing_lease(writer=make_writer(dataset=dataset))

        first, _ = run_writers("freeze")
        Dataset.objects.update(frozen_at=NOW)
        again, _ = run_writers("freeze")

        assert first.strip() == (
            "talks: frozen; 1 open claims given back with their drafts kept, 1 messages wait and "
            "can still be accepted or rejected, 1 that were sent back stay so"
        )
        assert again.strip() == f"talks: frozen already, since {NOW:%Y-%m-%d %H:%M} UTC"
        assert frozen_at(dataset) == NOW
        assert LogEntry.objects.get().by is None

    def test_is_ended_by_thawing_which_tells_what_stays(self, dataset, context):
        fix(make_accepted(lease=make_writing_lease(context=context, **SENT)))
        freeze(dataset)

        (thawed, _), (again, _) = run_writers("thaw"), run_writers("thaw")

        stays = "1 texts that are compared or labelled stay as they are"
        assert thawed.strip() == f"talks: thawed; {stays}"
        assert again.strip() == "talks: not frozen"
        assert frozen_at(dataset) is None


class TestThawing:
    def test_lets_people_write_again_and_says_in_the_log_since_when_it_was_frozen(
        self, dataset, context, writer
    ):
        by = make_user()
        freeze(dataset)

        assert thaw(dataset, by=by)

        assert frozen_at(dataset) is None
        assert lease_next_context(writer=writer, now=NOW) is not None
        entry = LogEntry.objects.order_by("-pk")[0]
        assert (entry.action, entry.by) == ("dataset.thawed", by)
        assert entry.before == {"frozen": NOW.isoformat()}

    def test_of_what_is_not_frozen_changes_nothing(self, dataset):
        assert not thaw(dataset)

        assert not LogEntry.objects.exists()
