"""``contexts screen`` and ``contexts build --adversarial``, as they are typed."""

import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import import_dialogues
from completions.dialogues.ingest.files import read_dialogues
from completions.models import RewriteCall, ScreeningCall
from completions.offline import Fault
from tests.helpers.factories import NOW
from tests.helpers.providers import ASKS_LITELLM

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
BUILD = ("build", "--dataset", "talks", "--regular", "24", "--adversarial", "2")
SCREEN = ("screen", "--dataset", "talks")


@pytest.fixture(autouse=True)
def _dialogues(db):
    import_dialogues(dataset_name="Talks", dialogues=read_dialogues(DIALOGUES), now=NOW)


@pytest.fixture
def nobody(settings):
    """Let nothing answer where the offline provider should be."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings.HEART_OFFLINE_LLM_URL = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    return settings.HEART_OFFLINE_LLM_URL


def contexts(*asked):
    """Return what the command answers, and what it says while it works."""
    out, err = StringIO(), StringIO()
    call_command("contexts", *asked, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


class TestBuild:
    def test_says_how_many_are_simulated_and_why_a_rewrite_was_dropped(self, provider):
        provider.script.append(Fault.FILTERED)

        said, told = contexts(*BUILD)

        assert "talks: 24 contexts (24 new)" in said
        assert "talks: 2 adversarial contexts (2 new), simulated" in said
        assert "2 of 2 adversarial contexts" in told
        assert "Dropped: The provider failed: content_filtered." in told
        assert len(provider.calls) == RewriteCall.objects.count() == 5

    def test_runs_the_offline_provider_if_nobody_does(self, nobody, settings):
        said, _ = contexts(*BUILD)

        assert "2 adversarial contexts (2 new)" in said
        assert nobody == settings.HEART_OFFLINE_LLM_URL

    def test_makes_no_adversarial_context_unasked(self, nobody):
        said, _ = contexts(*BUILD[:-1], "0")

        assert "adversarial" not in said
        assert not RewriteCall.objects.exists()

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            pytest.param(("--adversarial", "999"), "999 adversarial contexts", id="sources"),
            pytest.param(("--rewriter", "two words"), "is no id of a model", id="rewriter"),
            pytest.param(("--hostility-rater", ""), "is no id of a model", id="rater"),
        ],
    )
    def test_refuses_what_cannot_be(self, provider, options, reason):
        with pytest.raises(CommandError, match=reason) as caught:
            contexts(*BUILD, *options)

        assert caught.value.returncode == 2

    def test_refuses_to_go_on_where_no_question_is_taken(self, provider):
        provider.script += [Fault.UNAUTHORIZED] * 2

        with pytest.raises(CommandError, match="the provider takes no question") as caught:
            contexts(*BUILD)

        assert caught.value.returncode == 2


class TestScreen:
    def test_counts_couplets_and_asks_nobody(self, nobody):
        said, told = contexts(*SCREEN)

        assert "couplets" in said
        assert "opinions" not in said
        assert "dialogues screened" in told
        assert not ScreeningCall.objects.exists()

    def test_asks_for_opinions_when_told_to(self, nobody):
        said, told = contexts(*SCREEN, "--opinions")

        n_asked = ScreeningCall.objects.count()
        assert f"Simulated screener: {n_asked} opinions of {n_asked}" in said
        assert f"{n_asked} of {n_asked} opinions" in told

    def test_refuses_while_another_is_at_it(self, provider, held_elsewhere):
        with held_elsewhere("gathering opinions"), pytest.raises(CommandError) as caught:
            contexts(*SCREEN, "--opinions")

        assert str(caught.value).startswith("another process is gathering opinions now")
