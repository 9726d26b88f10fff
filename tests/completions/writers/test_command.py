"""``manage.py writers``: invite people from the command line, and see who writes."""

import io

import pytest
from django.core.management import CommandError, call_command

from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.models import Writer, WriterMail
from completions.writers import emails as writer_emails
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_message

pytestmark = pytest.mark.django_db

SENT = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


@pytest.fixture(autouse=True)
def dataset():
    return make_dataset(slug="talks", name="Talks")


def writers(*arguments, dataset="talks"):
    """Return what is said on standard output, and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("writers", *arguments, "--dataset", dataset, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


class TestInvite:
    def test_takes_addresses_and_files_of_them_each_once(self, tmp_path):
        file = tmp_path / "people.txt"
        file.write_text("kim@example.org\r\n\nADA@example.org\n")

        said, _ = writers("invite", "ada@example.org", str(file))

        assert said.startswith("Invited 2; 0 in the pool already, 0 not an address")
        emails = Writer.objects.order_by("email").values_list("email", flat=True)
        assert list(emails) == ["ada@example.org", "kim@example.org"]
        assert WriterMail.objects.count() == 2

    def test_reads_addresses_as_a_spreadsheet_saves_them(self, tmp_path):
        file = tmp_path / "addresses.txt"
        file.write_bytes("kim@example.org\r\nbo@example.org\r\n".encode("utf-16"))

        said, _ = writers("invite", str(file), "--dry-run")

        assert said.startswith("Dry run: would invite 2;")

    def test_tells_of_what_is_no_address_and_invites_the_others(self):
        said, remarks = writers("invite", "ada@example.org", "kim@nowhere")

        assert said.startswith("Invited 1; 0 in the pool already, 1 not an address")
        assert "kim@nowhere: is no e-mail address; not invited" in remarks

    def test_only_counts_on_a_dry_run(self, dataset):
        make_writer(dataset=dataset, email="ada@example.org")

        said, _ = writers("invite", "ada@example.org", "kim@example.org", "--dry-run")

        assert said.startswith("Dry run: would invite 1; 1 in the pool already")
        assert Writer.objects.count() == 1

    def test_leaves_somebody_of_the_pool_as_they_are(self, dataset):
        make_writer(dataset=dataset, email="ada@example.org")

        said, _ = writers("invite", "ada@example.org")

        assert said.startswith("Invited 0; 1 in the pool already")
        assert not WriterMail.objects.exists()

    def test_says_where_mails_cannot_go(self, settings):
        settings.EMAIL_BACKEND = writer_emails.NO_SERVER

        _, remarks = writers("invite", "ada@example.org")

        assert "No mail is set up" in remarks

    @pytest.mark.parametrize("who", ["kim@nowhere", "no-such-file.txt"])
    def test_refuses_what_holds_no_address(self, who):
        with pytest.raises(CommandError) as refusal:
            writers("invite", who)

        assert refusal.value.returncode == 2
        assert not Writer.objects.exists()

    def test_refuses_a_dataset_that_is_not_there(self):
        with pytest.raises(CommandError, match='there is no dataset "walks"') as refusal:
            writers("invite", "ada@example.org", dataset="walks")

        assert refusal.value.returncode == 2


class TestList:
    def test_shows_state_and_counts_and_neither_address_nor_link(self, dataset):
        ada = make_writer(dataset=dataset, code="Wada", email="ada@example.org")
        make_accepted(lease=make_writing_lease(writer=ada, **SENT))
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.WAITING)
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.TRIAL)
        make_writer(dataset=dataset, code="Wkim", state=WriterState.INVITED)

        said, _ = writers("list")

        assert said.split("\n") == [
            "code  state    sent  accepted  waiting  returned",
            "Wada  ACTIVE      2         1        1         0",
            "Wkim  INVITED     0         0        0         0",
            "",
        ]

    def test_prints_links_when_they_are_asked_for_to_whom_they_lead_in(self, dataset):
        ada = make_writer(dataset=dataset, code="Wada")
        make_writer(dataset=dataset, code="Wgone", state=WriterState.WITHDRAWN)

        said, _ = writers("list", "--links")

        _heads, first, second, _end = said.split("\n")
        assert first.endswith(f"0  {writer_emails.personal_link(ada)}")
        assert second.endswith("0")

    def test_shows_one_state_alone(self, dataset):
        make_writer(dataset=dataset, code="Wada")
        make_writer(dataset=dataset, code="Wkim", state=WriterState.PAUSED)

        said, _ = writers("list", "--state", "paused")

        assert "Wkim" in said
        assert "Wada" not in said

    def test_shows_the_heads_alone_of_an_empty_pool(self):
        said, _ = writers("list")

        assert said.strip() == "code  state  sent  accepted  waiting  returned"
