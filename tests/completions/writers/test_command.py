"""``manage.py writers``: invite people, see who writes, freeze a dataset, switch the trial."""

import io

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.models import Completion, Dataset, Writer, WriterMail
from completions.writers import emails as writer_emails
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_message
from tests.helpers.written import make_read

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("dataset")]

SENT = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


def writers(*arguments, dataset="talks"):
    """Return what is said on standard output, and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("writers", *arguments, "--dataset", dataset, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [("invite", "ada@example.org"), ("list",), ("freeze",), ("thaw",), ("vetting", "on")],
    ids=lambda arguments: arguments[0],
)
def test_a_dataset_that_is_not_there_ends_every_act_with_2(arguments):
    with pytest.raises(CommandError, match='there is no dataset "walks"') as refused:
        writers(*arguments, dataset="walks")

    assert refused.value.returncode == 2
    assert not Writer.objects.exists()


class TestInvite:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_takes_addresses_and_files_of_them_each_once(self, tmp_path, encoding):
        file = tmp_path / "people.txt"
        file.write_bytes("kim@example.org\r\n\nADA@example.org\n".encode(encoding))

        said, _ = writers("invite", "ada@example.org", str(file))

        assert said.startswith("Invited 2; 0 in the pool already, 0 not an address")
        emails = Writer.objects.order_by("email").values_list("email", flat=True)
        assert list(emails) == ["ada@example.org", "kim@example.org"]
        assert WriterMail.objects.count() == 2

    def test_tells_of_what_is_no_address_and_where_mails_cannot_go(self, settings):
        settings.EMAIL_BACKEND = writer_emails.NO_SERVER

        said, remarks = writers("invite", "ada@example.org", "kim@nowhere")

        assert said.startswith("Invited 1; 0 in the pool already, 1 not an address")
        assert "kim@nowhere: is no e-mail address; not invited" in remarks
        assert "No mail is set up" in remarks

    @pytest.mark.parametrize(
        ("options", "start"),
        [
            (["--dry-run"], "Dry run: would invite 1; 1 in the pool already"),
            ([], "Invited 1; 1 in the pool already"),
        ],
    )
    def test_leaves_the_pool_as_it_is_and_only_counts_on_a_dry_run(self, dataset, options, start):
        make_writer(dataset=dataset, email="ada@example.org")

        said, _ = writers("invite", "ada@example.org", "kim@example.org", *options)

        assert said.startswith(start)
        n_invited = 0 if options else 1
        assert (Writer.objects.count(), WriterMail.objects.count()) == (1 + n_invited, n_invited)

    @pytest.mark.parametrize("who", ["kim@nowhere", "no-such-file.txt"])
    def test_refuses_what_holds_no_address(self, who):
        with pytest.raises(CommandError) as refusal:
            writers("invite", who)

        assert refusal.value.returncode == 2
        assert not Writer.objects.exists()


class TestList:
    def test_shows_state_and_counts_and_neither_address_nor_link(self, dataset):
        ada = make_writer(dataset=dataset, code="Wada", email="ada@example.org")
        make_accepted(lease=make_writing_lease(writer=ada, **SENT))
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.WAITING)
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.TRIAL)
        make_writer(dataset=dataset, code="Wkim", state=WriterState.INVITED)

        said, _ = writers("list")
        invited, _ = writers("list", "--state", "invited")

        heads = "code  state    sent  accepted  waiting  returned"
        kim = "Wkim  INVITED     0         0        0         0"
        assert said.split("\n") == [
            heads,
            "Wada  ACTIVE      2         1        1         0",
            kim,
            "",
        ]
        assert invited.split("\n") == [heads, kim, ""]

    def test_prints_links_when_they_are_asked_for_to_whom_they_lead_in(self, dataset):
        ada = make_writer(dataset=dataset, code="Wada")
        make_writer(dataset=dataset, code="Wgone", state=WriterState.WITHDRAWN)

        said, _ = writers("list", "--links")

        _heads, first, second, _end = said.split("\n")
        assert first.endswith(f"0  {writer_emails.personal_link(ada)}")
        assert second.endswith("0")

    def test_shows_the_heads_alone_of_an_empty_pool(self):
        said, _ = writers("list")

        assert said.strip() == "code  state  sent  accepted  waiting  returned"


def frozen_at():
    return Dataset.objects.get(slug="talks").frozen_at


class TestFreezing:
    def test_tells_what_it_ended_and_what_is_left(self, dataset):
        make_read(dataset)
        make_read(dataset, state=MessageState.RETURNED)
        make_writing_lease(writer=make_writer(dataset=dataset))

        said, _ = writers("freeze")

        assert frozen_at() is not None
        assert said.strip() == (
            "talks: frozen; 1 open claims given back with their drafts kept, 1 messages wait and "
            "can still be accepted or rejected, 1 that were sent back stay so"
        )
        assert LogEntry.objects.get().by is None

    def test_again_says_since_when(self):
        Dataset.objects.update(frozen_at=NOW)

        said, _ = writers("freeze")

        assert said.strip() == f"talks: frozen already, since {NOW:%Y-%m-%d %H:%M} UTC"
        assert frozen_at() == NOW

    def test_is_ended_by_thawing_which_tells_what_stays(self, context):
        make_accepted(lease=make_writing_lease(context=context, **SENT))
        Completion.objects.update(fixed_at=NOW)
        Dataset.objects.update(frozen_at=NOW)

        (thawed, _), (again, _) = writers("thaw"), writers("thaw")

        stays = "1 texts that are compared or labelled stay as they are"
        assert thawed.strip() == f"talks: thawed; {stays}"
        assert again.strip() == "talks: not frozen"
        assert frozen_at() is None


class TestVetting:
    def test_switches_the_trial_on_and_off(self, dataset):
        said, _ = writers("vetting", "on")
        assert "talks: newcomers write for 3 trial conversations first" in said
        assert Dataset.objects.filter(pk=dataset.pk, vetting__slug="vetting-heart-1").exists()

        said, _ = writers("vetting", "off")
        assert "talks: newcomers are let in at once" in said
        assert Dataset.objects.get(pk=dataset.pk).vetting is None

    def test_tells_of_a_dataset_that_has_the_dialogues_slug(self):
        make_dataset(slug="vetting-heart-1")

        with pytest.raises(CommandError, match='"vetting-heart-1" is a dataset of its own'):
            writers("vetting", "on")
