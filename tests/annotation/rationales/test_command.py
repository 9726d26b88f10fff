"""``rationales run`` and what goes with its runs, as they are typed."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import RationaleCall, RationaleRun, ThemeLabel
from completions.choices import CallState
from tests.helpers.factories import make_comparison, make_judgment, make_study

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


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


@pytest.fixture
def study():
    return make_study(slug="talks")


@pytest.fixture
def judgments(study):
    return [make_judgment(comparison=make_comparison(study=study)) for _ in range(3)]


def test_reads_every_rationale_and_says_how_it_went(judgments, provider):
    said = rationales("run", "--study", "talks")

    assert "3 of 3 calls answered" in said
    assert ThemeLabel.objects.count() == 60


def test_leaves_the_calls_to_workers_on_request(judgments):
    said = rationales("run", "--study", "talks", "--no-wait")

    run = RationaleRun.objects.get()
    assert f"manage.py rationales show {run.pk}" in said
    assert set(RationaleCall.objects.values_list("state", flat=True)) == {CallState.PENDING}
    assert "codebook: heart-1" in rationales("show", str(run.pk))


def test_can_be_paused_and_gone_on_with(judgments, provider):
    rationales("run", "--study", "talks", "--no-wait")
    number = str(RationaleRun.objects.get().pk)

    assert "stands still" in rationales("pause", number)
    assert "3 of 3 calls answered" in rationales("resume", number)
    assert f"#{number} has ended" in rationales("runs")


def test_has_nothing_to_do_twice(judgments, provider):
    rationales("run", "--study", "talks")

    assert "nothing is left to ask" in refused("run", "--study", "talks")


def test_refuses_what_it_does_not_know(study):
    assert "there is no study" in refused("run", "--study", "walks")
    assert "no id of a model" in refused("run", "--study", "talks", "--assistant", "a b")
    assert "no run #7" in refused("show", "7")
