"""Jobs: one worker at a time, kills survived, stops heeded; and the progress of long work."""

import fcntl
import gzip
import io
import json

import pytest
from django.core.management.base import OutputWrapper
from django.db import connection
from django.test.utils import CaptureQueriesContext

from access.models import LogEntry
from completions.choices import JobKind, JobState
from completions.dialogues.ingest.dialogue import IngestError
from completions.jobs import services
from completions.jobs.services import JobProgress, JobStoppedError
from completions.management.acting import Progress
from completions.models import Dataset, Dialogue, Job
from completions.runs import pulling
from completions.runs.services.exclusive import AnotherAtWorkError, sole_worker
from tests.helpers.datasets import SEEKER, SUPPORTER, native
from tests.helpers.factories import NOW, make_dataset, make_dialogue
from tests.helpers.factories_of_site import make_job
from tests.helpers.factories_written_once import make_user
from tests.helpers.threads import doing_elsewhere

OPTIONS = dict.fromkeys(("language", "licence"), "") | {
    "dataset": "Talks",
    "is_authored": False,
    "is_adversarial": False,
}
FILE = json.dumps(
    [native((SEEKER, f"I failed exam {n}."), (SUPPORTER, "That hurts.")) for n in range(3)]
).encode()


def check(content=FILE):
    return services.check_file(
        name="talks.json", content=content, options=OPTIONS, by=make_user(), now=NOW
    )


def do(now=NOW):
    return services.do_next_job(clock=lambda: now)


@pytest.fixture
def choose(monkeypatch):
    """Have contexts chosen by a function of the job and its progress."""
    return lambda function: monkeypatch.setitem(services.WORK, JobKind.BUILD, function)


def break_off(_job, _progress):
    raise RuntimeError


def refuse(_job, _progress):
    raise AnotherAtWorkError


@pytest.mark.django_db
class TestImporting:
    def test_checking_a_file_keeps_it_packed_and_stores_nothing_of_it(self):
        job, report = check()

        assert (report.n_dialogues, report.n_added) == (3, 3)
        assert job.state == JobState.CHECKED
        assert gzip.decompress(bytes(Job.objects.get(pk=job.pk).content)) == FILE
        assert not Dialogue.objects.exists()
        assert not Dataset.objects.exists()
        assert not LogEntry.objects.filter(action="dialogues.imported").exists()

    def test_a_confirmed_file_is_imported_once_and_dropped(self):
        job, _report = check()

        assert services.confirm_job(job, by=make_user(), now=NOW)
        assert not services.confirm_job(job, by=make_user(), now=NOW)
        assert do()
        assert not do()

        job.refresh_from_db()
        assert (job.state, job.content, job.ended_at) == (JobState.DONE, None, NOW)
        assert job.dataset.name == "Talks"
        assert "3 dialogues (3 new)" in job.result
        assert Dialogue.objects.count() == 3

    def test_files_of_jobs_that_wait_are_not_read(self):
        for _ in range(2):
            services.confirm_job(check()[0], by=make_user(), now=NOW)

        with CaptureQueriesContext(connection) as asked:
            assert do()

        job, *_ = (one["sql"] for one in asked if 'FROM "completions_job"' in one["sql"])
        assert '"content"' not in job
        assert Dialogue.objects.count() == 3

    def test_a_file_that_nobody_confirmed_is_dropped_after_a_day(self):
        check()

        services.forget_unconfirmed_files(now=NOW + services.UNCONFIRMED)
        assert Job.objects.exists()
        services.forget_unconfirmed_files(now=NOW + 2 * services.UNCONFIRMED)
        assert not Job.objects.exists()

    def test_a_file_that_cannot_be_used_or_has_too_many_is_refused_by_its_name(self, monkeypatch):
        monkeypatch.setattr(services, "MOST_RECORDS", 2)

        with pytest.raises(IngestError, match=r"talks\.json: is empty"):
            check(b"")
        with pytest.raises(IngestError, match="has over 2 records"):
            check()
        assert not Job.objects.exists()


@pytest.mark.django_db
class TestQueue:
    def test_one_job_of_a_kind_is_open_in_a_dataset(self):
        dataset, ada = make_dataset(), make_user()

        first, second = (
            services.start_job(
                dataset=dataset, kind=JobKind.BUILD, options={"n": n}, by=ada, now=NOW
            )
            for n in (3, 5)
        )

        assert second == first
        assert Job.objects.count() == 1
        assert LogEntry.objects.filter(action="job.started").count() == 1

    @pytest.mark.parametrize("kind", [JobKind.BUILD, JobKind.CHECK])
    def test_a_job_is_taken_by_another_only_when_its_worker_died(self, kind):
        options = {"n": 3, "seed": 7, "table": "system", "slug": "nobody"}
        job = make_job(kind=kind, options=options, state=JobState.RUNNING, seen_at=NOW, begun=1)

        alive, dead = NOW + services.LOST, NOW + 2 * services.LOST
        assert not services.are_jobs_waiting(now=alive)
        assert not do(alive)
        assert services.are_jobs_waiting(now=dead)
        assert do(dead)

        job.refresh_from_db()
        assert job.is_over

    @pytest.mark.parametrize("kind", JobKind.values)
    @pytest.mark.parametrize("begun", [1, services.MOST_BEGUN])
    def test_a_job_whose_worker_is_silent_and_at_it_is_left_to_it(self, kind, begun):
        job = make_job(kind=kind, state=JobState.RUNNING, seen_at=NOW, begun=begun)

        with doing_elsewhere(f"doing job {job.pk}"):
            assert do(NOW + 2 * services.LOST)

        job.refresh_from_db()
        assert (job.state, job.begun, job.result) == (JobState.RUNNING, begun, "")

    def test_the_oldest_job_is_done_first_and_its_refusal_told_in_words(self):
        dataset = make_dataset()
        make_dialogue(dataset=dataset)
        oldest, _newer = make_job(dataset=dataset, options={"n": 5, "seed": 7}), make_job()

        do()

        oldest.refresh_from_db()
        assert (oldest.state, oldest.n_done, oldest.unit) == ("FAILED", 1, "dialogues screened")
        assert "5 contexts were asked for" in oldest.result
        assert services.are_jobs_waiting(now=NOW)

    @pytest.mark.parametrize(
        ("found", "left"),
        [
            ({"state": JobState.RUNNING, "seen_at": NOW, "begun": 1}, (JobState.RUNNING, 1)),
            ({}, (JobState.FAILED, 1)),
        ],
        ids=["as lost", "as waiting"],
    )
    def test_a_job_taken_over_is_left_to_a_worker_that_lives(self, choose, found, left):
        choose(refuse)
        job, later = make_job(**found), NOW + 2 * services.LOST

        assert do(later)

        job.refresh_from_db()
        assert (job.state, job.begun, job.seen_at) == (*left, later)
        assert not services.are_jobs_waiting(now=later)

    def test_jobs_of_a_process_that_is_gone_wait_again(self):
        job = make_job(state=JobState.RUNNING, seen_at=NOW)

        assert services.forget_job_claims() == 1

        job.refresh_from_db()
        assert job.state == JobState.WAITING


@pytest.mark.django_db
class TestEnding:
    def test_a_job_that_never_gets_on_is_given_up_at_the_third_time(self, choose):
        choose(break_off)
        job = make_job()

        for _ in range(services.MOST_BEGUN):
            assert do()
            job.refresh_from_db()
            assert job.state == JobState.WAITING
        do()

        job.refresh_from_db()
        assert (job.state, job.result) == (JobState.FAILED, services.BROKEN)

    def test_a_job_that_gets_on_may_break_off_often(self, monkeypatch, choose):
        job = make_job()

        def get_on(job, progress):
            progress.towards("steps")(job.n_done + 1, 100)
            raise RuntimeError

        monkeypatch.setattr("completions.jobs.services.EVERY_S", 0)
        choose(get_on)
        for _ in range(2 * services.MOST_BEGUN):
            do()

        job.refresh_from_db()
        assert (job.state, job.n_done) == (JobState.WAITING, 2 * services.MOST_BEGUN)

    def test_a_job_is_given_back_when_the_process_shuts_down(self, choose):
        job = make_job()

        def shut_down(_job, _progress):
            pulling.STOPPING.set()
            return "half of it"

        choose(shut_down)
        try:
            do()
        finally:
            pulling.STOPPING.clear()

        job.refresh_from_db()
        assert (job.state, job.result) == (JobState.WAITING, "")

    def test_a_stopped_job_ends_at_its_next_step_and_is_over(self):
        job = make_job(state=JobState.RUNNING, seen_at=NOW)
        services.stop_job(job, by=make_user(), now=NOW)

        with pytest.raises(JobStoppedError):
            list(JobProgress(job, lambda: NOW).over([1, 2], of="steps"))
        job.refresh_from_db()
        services.stop_job(job, by=make_user(), now=NOW + services.LOST)

        job.refresh_from_db()
        assert (job.state, job.ended_at) == (JobState.STOPPED, NOW)

    def test_a_failed_job_begins_again_with_the_same_options(self):
        job = make_job(state=JobState.FAILED, ended_at=NOW, options={"n": 3, "seed": 9})

        again = services.retry_job(job, by=make_user(), now=NOW)

        assert (again.kind, again.options) == (job.kind, job.options)
        assert again.state == JobState.WAITING


@pytest.mark.django_db
class TestProgress:
    def test_is_written_down_with_a_sign_of_life(self):
        job = make_job(state=JobState.RUNNING, seen_at=NOW)

        list(JobProgress(job, lambda: NOW + services.LOST).over([1, 2, 3], of="steps"))

        job.refresh_from_db()
        assert (job.n_done, job.n_total, job.unit) == (3, 3, "steps")
        assert job.seen_at == NOW + services.LOST


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def progress(log):
    return Progress(OutputWrapper(log))


class TestProgressOver:
    def test_passes_the_items_on(self, progress):
        assert list(progress.over("abc", of="letters")) == ["a", "b", "c"]

    @pytest.mark.parametrize(("n", "first", "n_lines"), [(40, 4, 10), (13, 2, 7)])
    def test_writes_a_line_for_each_tenth_and_the_full_count(
        self, progress, log, n, first, n_lines
    ):
        list(progress.over(range(n), of="dialogues"))

        lines = log.getvalue().splitlines()
        ends = (f"{first} of {n} dialogues", f"{n} of {n} dialogues")
        assert (lines[0], lines[-1], len(lines)) == (*ends, n_lines)

    def test_counts_what_has_no_known_number(self, progress, log):
        list(progress.over(iter(range(2_300)), of="lines"))

        assert log.getvalue() == "1,000 lines\n2,000 lines\n2,300 lines\n"

    def test_draws_a_bar_on_a_terminal(self):
        terminal = Terminal()

        list(Progress(OutputWrapper(terminal)).over(range(3), of="dialogues"))

        assert "dialogues" in terminal.getvalue()
        assert "\r" in terminal.getvalue()


class TestProgressTowards:
    def test_writes_a_line_for_each_tenth(self, progress, log):
        with progress.towards("opinions") as tell:
            for n in range(101):
                tell(n, 100)

        lines = log.getvalue().splitlines()
        ends = ("10 of 100 opinions", "100 of 100 opinions")
        assert (lines[0], lines[-1], len(lines)) == (*ends, 10)

    def test_says_nothing_twice(self, progress, log):
        with progress.towards("opinions") as tell:
            tell(2, 2)
            tell(2, 2)

        assert log.getvalue() == "2 of 2 opinions\n"

    def test_draws_a_bar_on_a_terminal(self):
        terminal = Terminal()

        with Progress(OutputWrapper(terminal)).towards("opinions") as tell:
            tell(1, 3)

        assert "1/3" in terminal.getvalue()


def test_a_remark_is_a_line_of_its_own(progress, log):
    progress.say("Dropped: a reason")

    assert log.getvalue() == "Dropped: a reason\n"


@pytest.mark.django_db
class TestLocking:
    @pytest.fixture(autouse=True)
    def _folder(self, settings, tmp_path):
        settings.HEART_DATA_DIR = tmp_path

    def test_leaves_no_file_behind_however_the_work_ends(self, choose, tmp_path):
        def succeed(*_given):
            return {}

        for work in (succeed, break_off, refuse):
            make_job(kind=JobKind.BUILD)
            choose(work)
            do()

        assert list(tmp_path.glob("*.lock")) == []

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks without files")
    @pytest.mark.parametrize("is_made_anew", [False, True])
    def test_of_a_file_that_was_deleted_since_it_was_opened_is_begun_again(
        self, monkeypatch, tmp_path, is_made_anew
    ):
        path, lock = tmp_path / "trying.lock", fcntl.flock
        tries: list[object] = []

        def lock_late(mark, how):
            if not tries:  # who had the lock ended now, and another may have begun
                path.unlink()
                if is_made_anew:
                    path.touch()
            tries.append(mark)
            lock(mark, how)

        monkeypatch.setattr(fcntl, "flock", lock_late)

        with sole_worker("trying"):
            assert len(tries) == 2
            assert path.exists()
            with pytest.raises(AnotherAtWorkError), sole_worker("trying"):
                pass
            assert path.exists()
        assert not path.exists()
