"""``manage.py writers``: pools, freezing, the trial, and the import of messages."""

import csv
import io

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.models import Completion, Dataset, Message, Writer, WriterMail
from completions.writers import emails as writer_emails
from tests.completions.writers.test_message_files import TEXT, table
from tests.helpers.factories import (
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_accepted, make_message
from tests.helpers.written import make_read

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("dataset")]

SENT = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


@pytest.fixture
def context(dataset):
    return make_context(dialogue=make_dialogue(dataset=dataset), key="abc")


def writers(*arguments, dataset="talks"):
    """Return what is said on standard output, and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("writers", *arguments, "--dataset", dataset, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [
        ("invite", "ada@example.org"),
        ("list",),
        ("freeze",),
        ("thaw",),
        ("vetting", "on"),
        ("import", "messages.csv"),
    ],
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


@pytest.fixture
def written(tmp_path, context):
    """Write a file of messages and return its path."""

    def _written(*rows, **options):
        path = tmp_path / "messages.csv"
        path.write_text(table(*rows, **options), encoding="utf-8")
        return str(path)

    return _written


def run(capsys, *arguments):
    call_command("writers", "import", "--dataset", "talks", *arguments)
    return capsys.readouterr()


GOOD = f"abc,{TEXT},Ada"
BAD = f"nowhere,{TEXT},Bo"


class TestADryRun:
    def test_is_what_happens_without_another_word(self, written, capsys):
        out = run(capsys, written(GOOD, BAD)).out

        assert out.splitlines() == [
            "Dry run: nothing was stored. With --apply it would be:",
            (
                "talks: 2 rows, 1 messages stored (1 wait for review, 0 accepted, 0 flagged), "
                "0 stored before, 1 refused; 1 new authors"
            ),
            "      1 refused: unknown context",
            "line 3: unknown context. Compare the key with the list of contexts.",
        ]
        assert not Message.objects.exists()
        assert not Writer.objects.exists()


class TestApplying:
    def test_stores_what_is_good_once_and_says_so(self, written, capsys):
        said = run(capsys, written(GOOD, BAD), "--apply")
        again = run(capsys, written(GOOD, BAD), "--apply")

        assert said.out.startswith("talks: 2 rows, 1 messages stored")
        assert "2 rows checked" in said.err
        assert "0 messages stored" in again.out
        assert Message.objects.count() == 1

    def test_accepts_what_was_accepted_elsewhere(self, written, capsys):
        out = run(capsys, written(GOOD), "--apply", "--accepted").out

        assert "(0 wait for review, 1 accepted, 0 flagged)" in out


class TestTheReport:
    def test_is_written_as_csv_with_every_refused_row(self, written, capsys, tmp_path):
        path = tmp_path / "refused.csv"

        run(capsys, written(GOOD, BAD), "--report", str(path))

        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["line", "field", "reason", "why", "what_to_do"]
        assert [row[:3] for row in rows] == [["3", "", "unknown context"]]

    def test_that_cannot_be_written_stops_the_import(self, written, tmp_path, capsys):
        path = tmp_path / "nowhere" / "refused.csv"

        with pytest.raises(CommandError, match=r"refused\.csv: cannot be written"):
            run(capsys, written(GOOD), "--apply", "--report", str(path))

        assert not Message.objects.exists()

    def test_never_takes_the_place_of_the_file(self, written, capsys):
        path = written(GOOD)

        with pytest.raises(CommandError, match="choose another for the report"):
            run(capsys, path, "--report", path)

    def test_on_standard_error_tells_what_is_odd_about_the_file(self, written, capsys):
        rows = [f"{GOOD},12", f"abc,{TEXT},ada,12"]

        said = run(capsys, written(*rows, header="context,text,author,wage")).err

        assert "Columns that are not read: wage" in said
        assert "These names look alike and count as different: Ada, ada." in said
        assert "One text stands on the lines 2, 3." in said


class TestWhatCannotBeRead:
    def ends_with_2(self, said, *arguments):
        with pytest.raises(CommandError, match=said) as caught:
            call_command("writers", "import", *arguments)
        assert caught.value.returncode == 2
        assert not Writer.objects.exists()

    @pytest.mark.parametrize(
        ("lines", "said"),
        [([], "has no messages"), (['abc,"One,Ada'], "line 2: a quotation mark opens here")],
        ids=["no rows", "a quotation mark"],
    )
    def test_ends_with_2_and_stores_nothing(self, written, lines, said):
        self.ends_with_2(said, "--dataset", "talks", written(*lines), "--apply")

    def test_ends_with_2_when_there_is_no_file(self, context, tmp_path):
        path = str(tmp_path / "nothing.csv")

        self.ends_with_2("cannot be read: No such file", "--dataset", "talks", path)

    def test_ends_with_2_when_the_dataset_is_frozen(self, written):
        Dataset.objects.update(frozen_at=NOW)

        self.ends_with_2("talks: is frozen", "--dataset", "talks", written(GOOD), "--apply")
