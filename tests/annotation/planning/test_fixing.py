"""A text that a study compares is fixed by its plan."""

import pytest

from annotation.choices import Protocol
from annotation.planning import services as annotation
from completions.choices import MessageState, MessageVerdict
from completions.dialogues import locking
from completions.models import Completion, Message
from completions.writers.services.review_decisions import decide_message
from tests.helpers.factories import HOUR, NOW, make_comparison, make_completion, make_study
from tests.helpers.factories_of_people import make_accepted, make_sent

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[Protocol.PREFERENCE, Protocol.LIKERT])
def study(request):
    return make_study(protocol=request.param)


def accepted_in(study, text="I hear how much that weighs on you."):
    """A text of a person, beside one of a model in the same context."""
    message = make_accepted(text)
    context = message.lease.context
    context.dialogue.dataset = context.dataset = study.dataset
    context.dialogue.save()
    context.save()
    make_completion(context=context)
    return message


def decide(message, verdict):
    return decide_message(message=message, verdict=verdict, note="A note.", by=None, now=NOW)


def plan(study, now=NOW):
    return annotation.plan_study(study=study, now=now)


def fixed_at(message):
    return Completion.objects.get(message=message).fixed_at


class TestFixing:
    def test_fixes_once_what_people_wrote_and_the_study_compares(self, study):
        message, other = accepted_in(study), make_accepted()

        plan(study)
        plan(study, NOW + HOUR)

        assert fixed_at(message) == NOW
        assert fixed_at(other) is None
        models = Completion.objects.filter(writer=None)
        assert {one.fixed_at for one in models} == {None}
        with pytest.raises(locking.CompletionFixedError):
            decide(message, MessageVerdict.REJECTED)

    def test_leaves_a_text_alone_that_it_holds_back(self, study):
        message = accepted_in(study, "As an AI, I hear you.")

        plan(study)

        assert fixed_at(message) is None

    def test_asks_nobody_any_more_for_another_version(self, study):
        message, other = accepted_in(study), make_accepted()
        Message.objects.update(state=MessageState.RETURNED)

        plan(study, NOW + HOUR)

        message.refresh_from_db()
        assert (message.state, message.changed_at) == (MessageState.ACCEPTED, NOW + HOUR)
        other.refresh_from_db()
        assert other.state == MessageState.RETURNED

    @pytest.mark.parametrize("is_first", [False, True])
    def test_fixes_what_an_older_plan_compares(self, is_first):
        study, message = make_study(), make_sent()
        context = message.lease.context
        before = None if is_first else make_completion(context=context)
        completion = decide(message, MessageVerdict.ACCEPTED).completion
        after = make_completion(context=context) if is_first else completion
        make_comparison(study=study, first=before or completion, second=after)

        plan(study)

        assert fixed_at(message) == NOW
