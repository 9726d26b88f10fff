"""Runs that ask an assistant about rationales: their plan, budget and end, and the command."""

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from access.nudges import Work
from annotation import tasks
from annotation.models import RationaleCall, RationaleRun, ThemeLabel
from annotation.rationales import themes
from annotation.rationales.services import labelling
from completions.choices import CallState, RunState
from completions.runs import view_data
from completions.runs.services import running as completions
from completions.runs.services.budgeting import UnknownPriceError
from completions.tasks import look_after_runs
from tests.annotation.rationales.conftest import KEYS, judge
from tests.helpers.factories import NOW, make_assistant, make_study
from tests.helpers.factories_of_calls import make_rationale_call
from tests.helpers.observed import nudged
from tests.helpers.providers import ASKS_LITELLM
from tests.helpers.threads import together

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]


class TestARun:
    def test_says_what_was_asked_for_is_asked_alone_on_request_and_ends_with_its_last_call(
        self, study, start, provider, clock, coder
    ):
        judge(study)
        make_rationale_call(assistant=coder)

        run = start()

        codebook = themes.load_codebook()
        assert run.plan == {
            "study": study.slug,
            "assistant": "simulated-coder",
            "codebook": "heart-1",
            "codebook_sha256": codebook.sha256,
            "prompt": "coder-1",
            "prompt_sha256": themes.coder_prompt(codebook).hash,
        }
        assert (run.calls.count(), run.state) == (1, RunState.RUNNING)
        assert labelling.find_themes(clock=clock, run=run) == 1
        run.refresh_from_db()
        assert run.state == RunState.ENDED

    def test_that_stands_still_makes_no_call_until_it_goes_on(self, study, start, provider, clock):
        judge(study)
        run = completions.pause_run(start(), now=clock())

        assert labelling.find_themes(clock=clock) == 0
        assert not completions.is_waiting(RationaleRun, now=clock())
        completions.resume_run(run, now=clock())
        assert labelling.find_themes(clock=clock) == 1

    def test_needs_a_price_to_keep_a_budget(self, study, start):
        judge(study)
        nameless = make_assistant(model_id="hosted_vllm/no-such-model")

        with pytest.raises(UnknownPriceError, match=nameless.slug):
            start(assistant=nameless, budget_usd=Decimal(1))
        assert not RationaleRun.objects.exists()

    def test_shows_what_failed_by_the_dialogue_that_it_is_about(self, study, ask, say):
        judgment = judge(study)
        say("no", "no")
        ask()

        calls = view_data.failed_calls(RationaleRun.objects.get(), "")

        (row,) = calls
        assert (row.dialogue, row.endpoint) == (judgment.comparison.context.key, "Simulated coder")
        assert (row.state, row.raw_answer) == (CallState.INVALID, "no")


def test_tasks_wake_a_worker_if_something_waits_and_are_safe_to_run_twice(study, start, provider):
    with nudged() as sent:
        look_after_runs()
    assert sent == []
    judge(study)
    start()

    with nudged() as sent:
        look_after_runs()
    for _ in range(2):
        tasks.find_themes()

    assert sent == [Work.FIND_THEMES]
    assert (len(provider.calls), ThemeLabel.objects.count()) == (1, len(KEYS))


def rationales(*asked):
    """Return what the command answers."""
    out = StringIO()
    call_command("rationales", *asked, stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(*asked):
    """Return why the command refuses."""
    with pytest.raises(CommandError) as error:
        rationales(*asked)
    assert error.value.returncode == 2
    return str(error.value)


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _judgments(self, study):
        for _ in range(3):
            judge(study)

    def test_reads_every_rationale_once_and_says_how_it_went(self, provider):
        assert "3 of 3 calls answered" in rationales("run", "--study", "talks")
        assert ThemeLabel.objects.count() == 60
        assert "nothing is left to ask" in refused("run", "--study", "talks")
        assert "codebook: heart-1" in rationales("show", str(RationaleRun.objects.get().pk))

    def test_refuses_what_it_does_not_know(self):
        assert "there is no study" in refused("run", "--study", "walks")
        assert "no id of a model" in refused("run", "--study", "talks", "--assistant", "a b")
        assert "no run #7" in refused("show", "7")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_several_runs_that_begin_at_once_one_has_all_the_calls(shared_database):
    study, assistant = make_study(), make_assistant()
    for _ in range(5):
        judge(study)

    def n_planned():
        try:
            run = labelling.start_rationale_run(study=study, assistant=assistant, now=NOW)
        except completions.NothingToAskError:
            return 0
        return run.n_planned

    planned = together([n_planned] * 4)

    assert sorted(planned) == [0, 0, 0, 5]
    assert (RationaleRun.objects.count(), RationaleCall.objects.count()) == (1, 5)
