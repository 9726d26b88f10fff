"""Files of dialogues at the console: checked, watched, stopped; and who speaks in what came in."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.judges.services import judging
from completions import tasks
from completions.choices import JobKind, JobState
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import import_dialogues
from completions.dialogues.ingest.files import read_dialogues
from completions.jobs import console
from completions.models import Completion, Context, Dialogue, Job
from completions.runs.services.calling import Claim
from heart_site import middleware
from tests.helpers.datasets import HISTORY, item, write_array
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_dataset,
    make_judge,
    make_judge_call,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import make_job
from tests.helpers.pages import text
from tests.helpers.visits import enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db

IMPORT, JOBS = reverse("data:import"), reverse("data:jobs")
HISTORIES = {
    "supporter first": item(),
    "seeker first": item(dialogue_history=HISTORY[1:]),
    "named": item(dialogue_history=HISTORY[1:], prev_speakers=["usr", "sys", "usr"]),
}
ROLES = dict(zip(HISTORY, ("supporter", "seeker") * 2, strict=True))


def send(staff, content=None, name="talks.json", **fields):
    file = SimpleUploadedFile(name, DIALOGUES.read_bytes() if content is None else content)
    return staff.post(IMPORT, {"file": file, "dataset": "Talks"} | fields)


def address(name, job):
    return reverse(f"data:{name}", args=[job.pk])


class TestImport:
    def test_shows_what_would_happen_then_does_it(self, staff):
        records = json.loads(DIALOGUES.read_text())
        checked = text(send(staff, json.dumps([*records, {"dialog": []}]).encode()))
        job = Job.objects.get()

        assert "What would happen" in checked
        assert "skipped 1" in checked
        assert not Dialogue.objects.exists()

        staff.post(address("confirm", job))
        assert "Waits for a worker" in text(staff.get(address("job", job)))
        tasks.do_jobs()

        done = text(staff.get(address("job", job)))
        assert "Talks:" in done
        assert "To the dataset" in done
        assert Dialogue.objects.count() == len(records)

    def test_a_dropped_file_is_gone(self, staff):
        send(staff)

        staff.post(address("stop", Job.objects.get()))

        job = Job.objects.get()
        assert (job.state, job.content) == (JobState.STOPPED, None)

    @pytest.mark.parametrize(
        ("content", "fields", "said"),
        [
            (b"", {}, "The file is empty."),
            (b"no json", {}, "talks.json:"),
            (None, {"dataset": ""}, "Name the dataset"),
            (None, {"dataset": "漢字"}, "its address needs a Latin letter"),
            (None, {"language": "no tag at all"}, "Give a language as he"),
            (None, {"is_adversarial": "on"}, "only a file of items"),
        ],
        ids=["empty", "no dialogues", "no name", "no address", "no language", "no items"],
    )
    def test_refuses_in_words_and_keeps_nothing(self, staff, content, fields, said):
        answer = send(staff, content, **fields)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not Job.objects.exists()

    def test_says_of_a_file_that_is_too_large_what_to_do(self, staff, monkeypatch):
        monkeypatch.setattr(console, "MOST_BYTES", 20)

        answer = send(staff, b" " * 21)

        assert answer.status_code == 422
        assert "Split it, or pack it by gzip." in text(answer)

    def test_takes_no_large_file_of_strangers(self):
        stranger = Client(enforce_csrf_checks=True)
        stranger.cookies["csrftoken"] = "a" * 32  # so that the form's own token is looked for
        large = SimpleUploadedFile("x.json", b"a" * (middleware.MOST_BYTES + 1))

        assert stranger.post(IMPORT, {"file": large}).status_code == 413

    def test_says_how_large_a_file_may_be(self, staff):
        said = {"CONTENT_LENGTH": str(middleware.MOST_DIALOGUES + 1)}

        answer = staff.post(IMPORT, {"file": SimpleUploadedFile("x.json", b"[]")}, **said)

        assert answer.status_code == 413
        assert "31 MB" in text(answer)


class TestPreparing:
    def test_contexts_are_screened_and_chosen_without_a_shell(self, staff):
        import_dialogues(dataset_name="Talks", dialogues=read_dialogues(DIALOGUES), now=NOW)

        staff.post(reverse("data:prepare", args=["talks", "build"]), {"n": "2", "seed": "7"})
        tasks.do_jobs()

        assert "2 contexts (2 new)" in text(staff.get(address("job", Job.objects.get())))
        assert Context.objects.count() == 2

    @pytest.mark.parametrize("kind", ["build", "screen", "rewrite"])
    def test_each_kind_asks_what_it_needs(self, staff, kind):
        prepare = reverse("data:prepare", args=[make_dataset().slug, kind])
        given = {"n": "3", "seed": "7"}
        models = dict.fromkeys(("model", "rewriter", "hostility_rater"), "offline")

        page = staff.get(prepare)
        started = staff.post(prepare, given | models)

        job = Job.objects.get()
        assert page.status_code == 200
        assert started["Location"] == address("job", job)
        assert job.kind == kind.upper()

    @pytest.mark.parametrize(
        ("kind", "fields", "said"),
        [
            ("build", {"n": "0", "seed": "7"}, "Give a whole number from 1 to 100,000."),
            ("build", {"n": "3", "seed": "x"}, "Give a whole number, such as 7."),
            ("screen", {"model": "two words"}, "Write the provider, a slash and the model"),
            ("screen", {"model": "huggingface/https://evil.example"}, "Write the provider"),
            ("screen", {"model": ""}, "Name a model"),
        ],
    )
    def test_asks_again_where_that_cannot_be(self, staff, kind, fields, said):
        answer = staff.post(reverse("data:prepare", args=[make_dataset().slug, kind]), fields)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not Job.objects.exists()

    @pytest.mark.parametrize("kind", ["import", "check", "other"])
    def test_there_is_no_form_for_other_kinds(self, staff, kind):
        answer = staff.get(reverse("data:prepare", args=[make_dataset().slug, kind]))

        assert answer.status_code == 404


class TestWatching:
    def test_looks_again_until_the_job_is_over(self, staff):
        job = make_job(state=JobState.RUNNING, seen_at=NOW, n_done=3, n_total=9, unit="dialogues")
        progress = address("progress", job)

        before = staff.get(address("job", job))
        assert f'hx-get="{progress}"' in before.content.decode()
        assert "3 of 9 dialogues." in text(staff.get(progress))

        Job.objects.update(state=JobState.DONE, ended_at=NOW, result="9 chosen")
        assert staff.get(progress)["HX-Refresh"] == "true"
        assert "9 chosen" in text(staff.get(address("job", job)))

    @pytest.mark.parametrize(("kind", "n_waiting"), [(JobKind.BUILD, 1), (JobKind.IMPORT, 0)])
    def test_offers_to_begin_again_what_failed_but_no_import_without_its_file(
        self, staff, kind, n_waiting
    ):
        job = make_job(kind=kind, state=JobState.FAILED, ended_at=NOW, result="There are 2 only.")

        page = text(staff.get(address("job", job)))
        staff.post(address("retry", job))

        assert "There are 2 only." in page
        assert ("Begin again" in page) is bool(n_waiting)
        assert Job.objects.filter(state=JobState.WAITING).count() == n_waiting

    def test_the_list_has_the_newest_first(self, staff):
        assert "There is no job yet." in text(staff.get(JOBS))
        older, newer = make_job(), make_job()

        assert [one.pk for one in staff.get(JOBS).context["page"]] == [newer.pk, older.pk]


class TestChecking:
    @pytest.mark.parametrize(("table", "make"), [("system", make_system), ("judge", make_judge)])
    def test_a_model_is_asked_one_question_by_a_worker_however_often_clicked(
        self, staff, table, make
    ):
        for slug in ("ours", "theirs"):
            make(slug=slug, model_id="hosted_vllm/ours")
            for _ in range(2):
                staff.post(reverse("data:check", args=[table, slug]))

        ours, _theirs = Job.objects.order_by("pk")
        assert (ours.kind, ours.options) == (JobKind.CHECK, {"table": table, "slug": "ours"})
        Job.objects.update(state=JobState.DONE, ended_at=NOW)
        staff.post(reverse("data:check", args=[table, "ours"]))
        assert Job.objects.count() == 3

    @pytest.mark.parametrize("table", ["system", "assistant", "user"])
    def test_what_is_not_registered_is_not_asked(self, staff, table):
        answer = staff.post(reverse("data:check", args=[table, "ours"]))

        assert answer.status_code == 404
        assert not Job.objects.exists()


@pytest.fixture(params=HISTORIES.values(), ids=[*HISTORIES])
def completion(request, tmp_path):
    """The reply of an item that was imported from a file."""
    path = write_array(tmp_path / "items.json", [request.param])
    import_dialogues(dataset_name="Items", dialogues=read_dialogues(path), now=NOW)
    return Completion.objects.select_related("context__dataset").get()


def compared(study, completion):
    other = make_completion(context=completion.context)
    return make_comparison(study=study, first=completion, second=other)


def expected(completion):
    return [(ROLES[turn["text"]], turn["text"]) for turn in completion.context.turns]


def shown(page):
    """Return who says what on a page."""
    turns = re.findall(r'<span class="who">(\w+)</span><div class="said"><p [^>]*>(.*?)</p>', page)
    return [(who.lower(), text) for who, text in turns]


class TestImportedRoles:
    """From the file to the rater's page and the judge's prompt.

    The judge script that was published with the items takes the first turn for the seeker's
    always, and shows half of them with the two swapped.
    """

    def test_are_those_of_the_raters_page(self, client, completion):
        study = open_study(n_pairs=0, dataset=completion.context.dataset)
        compared(study, completion)
        enrol(client, study)

        page = client.get(url(study, "judge")).content.decode()

        assert shown(page)[: len(completion.context.turns)] == expected(completion)

    def test_are_those_of_the_judges_prompt(self, completion):
        study = make_study(
            dataset=completion.context.dataset, content=study_content("rubric"), protocol="RUBRIC"
        )
        call = make_judge_call(comparison=compared(study, completion))

        question = judging.JudgeCalls().question(call, Claim(call.pk, NOW, attempts=1))

        prompt = question.request.messages[1]["content"]
        dialogue = json.loads(prompt.partition("<dialogue>")[2].partition("</dialogue>")[0])
        assert [(turn["role"], turn["text"]) for turn in dialogue] == expected(completion)
