"""Several runs about one study's rationales begin at once: each rationale is asked about once."""

from functools import partial

import pytest

from annotation.models import RationaleCall, RationaleRun
from annotation.rationales.services import labelling
from completions.runs.services.calling import claim_calls
from completions.runs.services.running import NothingToAskError
from tests.helpers.factories import NOW, make_assistant, make_comparison, make_judgment, make_study
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


@pytest.fixture
def study():
    study = make_study()
    for _ in range(5):
        make_judgment(comparison=make_comparison(study=study))
    return study


def start(study, assistant):
    try:
        run = labelling.start_rationale_run(study=study, assistant=assistant, now=NOW)
    except NothingToAskError:
        return 0
    return run.n_planned


def test_one_run_has_all_the_calls_and_the_others_do_not_exist(study):
    planned = together([partial(start, study, make_assistant())] * 4)

    assert sorted(planned) == [0, 0, 0, 5]
    assert (RationaleRun.objects.count(), RationaleCall.objects.count()) == (1, 5)


def test_no_call_is_claimed_by_two(study):
    start(study, make_assistant())

    claimed = together(
        [partial(claim_calls, RationaleCall.objects.all(), limit=2, now=NOW) for _ in range(4)]
    )

    taken = [pk for one in claimed for pk in one]
    assert len(taken) == len(set(taken)) <= 5
