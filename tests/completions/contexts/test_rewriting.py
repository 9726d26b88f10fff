"""Adversarial contexts from end to end: planned, written, checked, rated, kept or dropped."""

import json
from collections import Counter
from itertools import islice

import pytest

from access.models import LogEntry
from completions.choices import CallState, Review, RewriteState, RewriteStep, Stratum
from completions.contexts import adversarial
from completions.contexts.services import rewriting
from completions.contexts.services.building import build_contexts
from completions.contexts.services.rewrite_planning import Assistants, NoSourceLeftError, plan
from completions.dialogues.importing import import_dialogues
from completions.dialogues.ingest.files import read_dialogues
from completions.models import Completion, Context, Rewrite, RewriteCall
from completions.offline import Fault, assistants
from completions.offline.judges import UnreadablePromptError
from completions.runs.services import calling
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.systems.services.registering import assistant_for
from tests.completions.contexts.conftest import SOURCE
from tests.helpers.datasets import shared_file
from tests.helpers.factories import NOW, make_assistant, make_context, make_dataset, make_dialogue
from tests.helpers.providers import ASKS_LITELLM
from tests.helpers.threads import doing_elsewhere

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]


def make_source(dataset, topic="rent", **fields):
    """Add a regular context that can be rewritten."""
    turns = [dict(turn) for turn in SOURCE]
    turns[5]["text"] = f"It is, and the {topic} is due."
    dialogue = make_dialogue(dataset=dataset, turns=turns, emotion_type="sadness", **fields)
    return make_context(dialogue=dialogue, turns=turns, turn_index=7)


@pytest.fixture
def dataset():
    dataset = make_dataset()
    for _ in range(6):
        make_source(dataset)
    return dataset


def ask_of(model, rater=None):
    """Return who writes and who rates."""
    return Assistants(
        assistant_for("rewriter", model), assistant_for("hostility-rater", rater or model)
    )


@pytest.fixture
def offline_ones():
    return ask_of("offline")


@pytest.fixture
def make(provider, clock, offline_ones):
    def _make(dataset, n=1, **options):
        asked = {"seed": 7, "assistants": offline_ones, "clock": clock} | options
        return rewriting.make_adversarial_contexts(dataset=dataset, n=n, **asked)

    return _make


@pytest.fixture
def spoil(monkeypatch):
    """Let an assistant spoil its first ``times`` answers."""

    def _spoil(name, how, times=1):
        honest, left = assistants.answer, [times]

        def answer(assistant, messages):
            said = honest(assistant, messages)
            if assistant != f"offline-{name}" or not left[0]:
                return said
            left[0] -= 1
            return how(said)

        monkeypatch.setattr("completions.offline.assistants.answer", answer)

    return _spoil


@pytest.fixture
def waiting_passes(monkeypatch, clock):
    """Let each wait take five minutes of the test's clock."""
    monkeypatch.setattr(
        "completions.runs.pulling.STOPPING.wait", lambda _seconds: clock.turn(minutes=5)
    )
    monkeypatch.setattr(calling, "WORTH_WAITING_S", 0.0)


def with_text(index, text):
    """Return what spoils a rewrite by changing one of its turns."""

    def spoiled(said):
        answer = json.loads(said)
        answer["turns"][index]["text"] = text
        return json.dumps(answer)

    return spoiled


MILD = '{"hostility": [2, 10, 10, 10]}'


class TestMaking:
    def test_gives_a_simulated_context_with_all_that_led_to_it(self, dataset, make):
        report = make(dataset)

        context = dataset.contexts.get(stratum=Stratum.ADVERSARIAL)
        source, provenance = context.source_context, context.provenance
        assert (report.n_contexts, report.n_added, report.dropped) == (1, 1, ())
        assert (context.escalation_profile, context.is_simulated) == ("ALWAYS_10", True)
        assert context.slots_left == dataset.completions_per_context
        assert context.turns[::2] == source.turns[::2]
        assert context.turns[1]["text"].endswith(SOURCE[1]["text"])
        assert provenance["target"] == provenance["measured"] == [10, 10, 10, 10]
        assert (provenance["rounds"], provenance["source_context"]) == (1, source.key)
        assert provenance["rewriter"]["model_id"] == "hosted_vllm/offline-rewriter"
        assert provenance["rewriter"]["is_simulated"] is True
        assert len(provenance["rewriter"]["prompt_hash"]) == 64
        assert [one["turn"] for one in provenance["diff"]] == [1, 3, 5, 7]
        assert LogEntry.objects.filter(action="context.rewritten").count() == 1
        assert not Completion.objects.exists()  # its seeker said something else

    def test_adds_what_is_missing_and_balances_the_profiles(self, dataset, make, provider, told):
        make(dataset, 2)
        n_calls = len(provider.calls)

        assert make(dataset, 2).n_added == 0
        assert len(provider.calls) == n_calls

        assert make(dataset, 6, told=lambda *counts: told.append(counts)).n_added == 4
        assert told[-1] == (6, 6)
        made = dataset.contexts.filter(stratum=Stratum.ADVERSARIAL)
        balance = Counter(made.values_list("escalation_profile", flat=True))
        assert sorted(balance.values()) == [1, 1, 2, 2]

    def test_replaces_what_a_reviewer_dropped(self, dataset, make):
        make(dataset, 2)
        dataset.contexts.filter(pk=Rewrite.objects.earliest("pk").context_id).update(
            review=Review.DROPPED
        )

        report = make(dataset, 2)

        assert (report.n_contexts, report.n_added) == (2, 1)

    def test_gives_the_same_for_the_same_seed(self, make):
        made = []
        for slug in ("one", "two"):
            dataset = make_dataset(slug=slug)
            for n in range(5):
                make_source(dataset, topic=f"bill {n}", content_hash=str(n) * 64)
            make(dataset, 2)
            hostile = dataset.contexts.filter(stratum=Stratum.ADVERSARIAL)
            made.append(sorted((one.escalation_profile, str(one.turns)) for one in hostile))

        assert made[0] == made[1]

    def test_tells_how_far_it_is_while_nothing_can_be_asked(self, dataset, make, told, told_before):
        make(dataset, told=lambda *counts: told.append(counts))

        assert told_before[1] == told_before[0] + 1

    def test_says_why_no_more_can_be_made(self, dataset, make):
        make_context(dataset=dataset)  # the seeker begins, two turns

        with pytest.raises(NoSourceLeftError) as caught:
            make(dataset, 9)

        said = str(caught.value)
        assert "9 adversarial contexts were asked for and 0" in said
        assert "6 regular contexts are left that open with a supporter's greeting" in said

    def test_counts_real_and_simulated_ones_apart(self, dataset, make, offline_ones):
        make(dataset, 2)

        assert ask_of("openai/some-model").made(dataset).count() == 0
        assert offline_ones.made(dataset).count() == 2


class TestBrokenAnswers:
    @pytest.mark.parametrize(
        ("broken", "problem"),
        [
            (("rewriter", lambda said: said[:-1]), "not one JSON object"),
            (("rewriter", with_text(0, "Hi.")), "Turn 1 is the supporter's"),
            (("hostility-rater", lambda _: MILD), "turn 1: hostility"),
        ],
        ids=["no JSON", "a text", "hostility"],
    )
    def test_are_caught_and_written_again_with_the_fault(
        self, dataset, make, provider, spoil, broken, problem
    ):
        """Each check has its own tests."""
        spoil(*broken)

        report = make(dataset)

        assert report.n_added == 1
        refused = RewriteCall.objects.filter(step=RewriteStep.WRITE, round=1).get()
        problems = refused.problems or refused.rewrite.calls.get(step="RATE", round=1).problems
        assert problem in " ".join(problems)
        again = [call for call in provider.calls if call.model == "offline-rewriter"][1]
        assert problem in again.request["messages"][-1]["content"]
        assert again.request["messages"][-2]["content"] == refused.raw_answer
        provenance = Context.objects.get(stratum=Stratum.ADVERSARIAL).provenance
        assert (provenance["rounds"], provenance["measured"]) == (2, [10, 10, 10, 10])

    def test_are_given_up_after_three_and_replaced(self, dataset, make, spoil):
        spoil("hostility-rater", lambda _: MILD, times=3)

        report = make(dataset)

        dropped = Rewrite.objects.get(state=RewriteState.DROPPED)
        assert report.n_contexts == 1
        assert report.dropped == (dropped.reason,)
        assert dropped.reason.startswith("Refused 3 times, the last time because: ")
        assert "turn 1: hostility" in dropped.reason
        assert dropped.source_context != Rewrite.objects.get(state="ACCEPTED").source_context

    def test_of_the_rater_end_a_rewrite_when_they_stay(self, dataset, make, spoil):
        spoil("hostility-rater", lambda _: '{"hostility": [1]}', times=2)

        report = make(dataset)

        assert report.n_contexts == 1
        assert report.dropped[0].startswith("Its hostility could not be rated: ")
        assert "must have 4 numbers" in report.dropped[0]
        call = RewriteCall.objects.get(state=CallState.INVALID)
        assert "must have 4 numbers" in call.asked["first_try"]["fault"]


class TestFailures:
    def test_of_one_text_drop_the_rewrite_and_another_is_made(self, dataset, make, provider):
        provider.script.append(Fault.FILTERED)

        report = make(dataset)

        assert report.n_contexts == 1
        assert report.dropped == ("The provider failed: content_filtered.",)
        assert make(dataset).dropped == ()  # told once

    @pytest.mark.parametrize("n_answered", [0, 1])
    def test_of_every_text_stop_the_run_and_use_up_no_source(
        self, dataset, make, provider, n_answered
    ):
        """A mistyped key once spent all sources: each was dropped, none could be tried again."""
        provider.script += [None] * n_answered + [Fault.UNAUTHORIZED] * 9

        with pytest.raises(ProviderRefusesError, match=r"authentication.*not accepted"):
            make(dataset)
        n_asked = len(provider.calls)
        provider.script.clear()

        report = make(dataset)
        assert (n_asked, report.n_added, report.dropped) == (n_answered + 1, 1, ())
        assert Rewrite.objects.count() == 1

    def test_of_every_text_leave_the_rewrite_to_whom_is_asked_next(
        self, dataset, make, provider, offline_ones
    ):
        mistyped = make_assistant(
            name="Simulated mistype", model_id="no-such/model", is_simulated=True
        )
        with pytest.raises(ProviderRefusesError, match="bad_request"):
            make(dataset, assistants=Assistants(mistyped, mistyped))

        assert make(dataset).n_added == 1
        made = Context.objects.get(stratum=Stratum.ADVERSARIAL)
        assert made.provenance["rewriter"]["model_id"] == offline_ones.rewriter.model_id

    def test_by_a_bad_request_are_about_the_text_where_others_were_answered(
        self, dataset, make, spoil
    ):
        make(dataset)

        def refuse(_said):
            raise UnreadablePromptError

        spoil("rewriter", refuse)

        report = make(dataset, 2)

        assert (report.n_contexts, report.dropped) == (2, ("The provider failed: bad_request.",))

    def test_in_number_end_what_is_under_way_before_the_run_ends(
        self, dataset, make, provider, waiting_passes
    ):
        """Six sources, six wanted: one is filtered, one must wait."""
        provider.script += [Fault.FILTERED, Fault.SERVER_ERROR]

        with pytest.raises(NoSourceLeftError, match="asked for and 5 are made"):
            make(dataset, 6)

        states = Counter(Rewrite.objects.values_list("state", flat=True))
        assert states == {RewriteState.ACCEPTED: 5, RewriteState.DROPPED: 1}


class TestResuming:
    @pytest.mark.parametrize("rater", ["openai/some-model", "offline"])
    def test_asks_nobody_who_costs_when_simulated(self, dataset, make, clock, rater):
        """A run with real models was killed; trying things out must not go on with it."""
        real = ask_of("openai/some-model", rater)
        plan(dataset, 1, 7, real, clock())

        make(dataset)

        assert Rewrite.objects.get(rewriter=real.rewriter).calls.get().attempts == 0

    def test_drops_a_source_that_a_person_dropped_meanwhile(
        self, dataset, make, clock, offline_ones
    ):
        plan(dataset, 1, 7, offline_ones, clock())
        begun = Rewrite.objects.get()
        dataset.contexts.filter(pk=begun.source_context_id).update(review=Review.DROPPED)

        report = make(dataset)

        assert (report.n_contexts, report.dropped) == (1, ("Its source was dropped in review.",))
        assert not begun.calls.filter(attempts__gt=0).exists()

    def test_drops_a_source_that_a_person_dropped_while_its_text_was_rated(
        self, dataset, make, monkeypatch
    ):
        ratings = adversarial.curve_problems

        def rate(profile, measured):
            if not Rewrite.objects.filter(state=RewriteState.DROPPED):
                dataset.contexts.filter(planned_rewrites__measured=[]).update(review=Review.DROPPED)
            return ratings(profile, measured)

        monkeypatch.setattr(adversarial, "curve_problems", rate)

        report = make(dataset)

        assert (report.n_contexts, report.dropped) == (1, ("Its source was dropped in review.",))

    def test_frees_the_claims_of_a_killed_run_at_once(
        self, dataset, make, clock, offline_ones, monkeypatch
    ):
        plan(dataset, 1, 7, offline_ones, clock())
        RewriteCall.objects.update(state=CallState.CLAIMED, claimed_at=clock(), attempts=1)
        monkeypatch.setattr("completions.runs.pulling.STOPPING.wait", pytest.fail)

        assert make(dataset).n_added == 1

    def test_pays_for_nothing_twice(self, dataset, make, provider, monkeypatch):
        with monkeypatch.context() as broken:
            broken.setattr(rewriting, "_keep_ratings", None)  # which cannot be called
            with pytest.raises(TypeError):
                make(dataset)

        assert make(dataset).n_added == 1
        assert sum(call.model == "offline-rewriter" for call in provider.calls) == 1


def test_a_run_is_refused_while_another_is_at_it(dataset, make):
    with doing_elsewhere("rewriting contexts"), pytest.raises(AnotherAtWorkError) as refused:
        make(dataset)

    assert str(refused.value) == (
        "another process is rewriting contexts now; wait until it has ended"
    )


@pytest.mark.full
def test_twenty_are_made_of_real_dialogues(make):
    dialogues = islice(read_dialogues(shared_file("esconv/ESConv.json")), 600)
    dataset = import_dialogues(dataset_name="Talks", dialogues=dialogues, now=NOW).dataset
    build_contexts(dataset_name="Talks", n=130, seed=7, now=NOW)

    report = make(dataset, 20)

    made = dataset.contexts.filter(stratum=Stratum.ADVERSARIAL)
    assert report.n_contexts == 20
    balance = Counter(made.values_list("escalation_profile", flat=True))
    assert [*balance.values()] == [5] * 4
    for one in made:
        assert adversarial.curve_problems(one.escalation_profile, one.provenance["measured"]) == []
