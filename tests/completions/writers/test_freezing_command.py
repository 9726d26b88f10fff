"""``manage.py writers freeze`` and ``thaw``."""

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import MessageState
from completions.models import Dataset
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted
from tests.helpers.written import completion_of, make_read

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset(slug="talks")


def run(act, name="talks"):
    return call_command("writers", act, dataset=name)


def frozen_at():
    return Dataset.objects.get(slug="talks").frozen_at


class TestFreeze:
    def test_freezes_and_tells_what_it_ended_and_what_is_left(self, dataset):
        make_read(dataset)
        make_read(dataset, state=MessageState.RETURNED)
        make_writing_lease(writer=make_writer(dataset=dataset))

        said = run("freeze")

        assert frozen_at() is not None
        assert said == (
            "talks: frozen; 1 open claims given back with their drafts kept, 1 messages wait and "
            "can still be accepted or rejected, 1 that were sent back stay so"
        )
        assert LogEntry.objects.get().by is None

    def test_again_says_since_when(self, dataset):
        Dataset.objects.update(frozen_at=NOW)

        assert run("freeze") == f"talks: frozen already, since {NOW:%Y-%m-%d %H:%M} UTC"
        assert frozen_at() == NOW

    @pytest.mark.parametrize("act", ["freeze", "thaw"])
    def test_of_a_dataset_that_does_not_exist_is_refused(self, act):
        with pytest.raises(CommandError, match='there is no dataset "nowhere"'):
            run(act, "nowhere")


class TestThaw:
    def test_lets_people_write_again_and_tells_what_stays(self):
        completion = completion_of(make_accepted())
        completion.fixed_at = NOW
        completion.save()
        Dataset.objects.filter(pk=completion.context.dataset_id).update(slug="talks", frozen_at=NOW)

        said = run("thaw")

        assert said == "talks: thawed; 1 texts that are compared or labelled stay as they are"
        assert frozen_at() is None

    def test_of_what_is_not_frozen_says_so(self, dataset):
        assert run("thaw") == "talks: not frozen"
