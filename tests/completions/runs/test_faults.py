"""Runs of three calls with one odd answer: each ends by itself, and every call is paid once."""

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError

from annotation.judges.services import judging
from annotation.models import JudgeCall
from annotation.studies import rubric
from completions.choices import CallState, RunState
from completions.generation.services import generate_completions, start_generation_run
from completions.llm import failures
from completions.management import run_actions
from completions.models import GenerationCall, GenerationRun
from completions.offline import Fault
from completions.runs.services import asking, budgeting, calling, speaking
from tests.completions.runs.conftest import changed, make_talks
from tests.helpers.factories import NOW, make_comparison, make_judge, make_judge_call
from tests.helpers.factories_of_calls import PRICE, make_judge_run, make_priced
from tests.helpers.providers import (
    ASKS_LITELLM,
    USAGE,
    Answer,
    choice,
    completion,
    events,
    said,
    streamed,
)

pytestmark = [
    pytest.mark.django_db,
    ASKS_LITELLM,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]
N_CALLS = 3
LIMIT = {"error": {"message": "Slow down.", "type": "requests"}}
QUOTA = {
    "error": {"message": "No money.", "type": "insufficient_quota", "code": "insufficient_quota"}
}
FILTER = {"error": {"message": "Filtered.", "code": "content_filter", "param": "prompt"}}
HEALS = None


def counted(name: str, n: int) -> Answer:
    """Return a good answer with another count of tokens."""
    answer = streamed(choice("A kind word."))
    usual, other = (json.dumps({name: one})[1:-1].encode() for one in (USAGE[name], n))
    return Answer(200, [piece.replace(usual, other) for piece in answer.body], kind=answer.kind)


FAULTS = {
    # name: the odd answer, and the kind of failure that it leaves; nothing if asking again heals it
    "no choices": (events({"id": "x", "choices": []}), "empty"),
    "half a body": (said(b'{"id": "x'), HEALS),
    "a wait of an age": (said(LIMIT, 429, retry_after="99999999999999"), HEALS),
    "an overload": (said(b"<html>busy</html>", 503), HEALS),
    "a stream without an end": (streamed(choice("That sou", None)), HEALS),
    "cut at the limit": (streamed(choice("That sou", "model_length")), "truncated"),
    "a refusal": (streamed(choice(None, refusal="I cannot help.")), "refused"),
    "filtered": (said(FILTER, 400), "content_filtered"),
    "an empty account": (said(QUOTA, 429), "payment"),
    "one bad request": (said({"error": {"message": "No."}}, 400), "bad_request"),
    "thoughts alone": (streamed(choice("<think>hm</think>")), "only_thoughts"),
    "half a sign": (streamed(choice("a\ud83db")), "unstorable"),
    "half a sign in the reason": (streamed(choice("That sou", "a\ud83db")), "finish_reason"),
    "thoughts before a text": (streamed(choice("<think>hm</think>Hello.")), HEALS),
    "an answer of less than nothing": (counted("completion_tokens", -3), HEALS),
    "a question of less than nothing": (counted("prompt_tokens", -7), HEALS),
    "a question longer than any": (counted("prompt_tokens", 10**13), HEALS),
    "an answer that no database counts": (counted("completion_tokens", 10**30), HEALS),
}
"""One of each sort: every answer is told apart in `llm/test_failures.py`."""


@pytest.fixture(autouse=True)
def _nobody_waits(settings, monkeypatch):
    monkeypatch.setattr(calling, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(run_actions, "PAUSE_S", 0.01)
    monkeypatch.setattr(failures, "LONGEST_WAIT_S", 0.01)
    settings.HEART_LLM_CONCURRENCY = 1  # the n-th question is the n-th call


@pytest.fixture
def dataset():
    return make_talks(N_CALLS)


def complete(slug: str) -> str:
    out = StringIO()
    words = ["completions", "run", "--dataset", "Talks", "--systems", slug]
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_one_odd_answer_fails_no_other_call_and_leaves_none_open(dataset, fake, subtests):
    good = streamed(choice("A kind word."))
    for n, (name, (answer, kind)) in enumerate(FAULTS.items()):
        with subtests.test(name):
            make_priced(slug=f"model-{n}")
            fake.always = good
            fake.script.extend([good, answer])

            told = complete(f"model-{n}")

            calls = GenerationCall.objects.filter(system__slug=f"model-{n}")
            ended = sorted(calls.values_list("state", "error_kind"))
            failed = [] if kind is HEALS else [(CallState.FAILED, kind)]
            assert ended == [(CallState.DONE, "")] * (N_CALLS - len(failed)) + failed
            assert not calls.filter(ended_at=None).exists()
            assert GenerationRun.objects.latest("pk").state == RunState.ENDED
            assert f"{N_CALLS - len(failed)} of {N_CALLS} calls answered" in told


@pytest.mark.parametrize(
    ("place", "act"),
    [(calling, "claim_questions"), (budgeting, "reserve"), (calling, "settle_answers")],
)
def test_a_database_away_for_a_moment_loses_no_answer(
    dataset, fake, monkeypatch, clock, place, act
):
    fake.always = streamed(choice("A kind word."))
    start_generation_run(dataset=dataset, systems=[make_priced()], now=NOW)
    act_itself, troubles = getattr(place, act), [OperationalError, InterfaceError]

    def away_at_first(*given, **named):
        if troubles:
            raise troubles.pop()
        return act_itself(*given, **named)

    monkeypatch.setattr(asking, "AWAY_S", (0, 0))
    monkeypatch.setattr(place, act, away_at_first)
    generate_completions(clock=clock)

    assert not troubles
    assert len(fake.requests) == N_CALLS
    assert set(GenerationCall.objects.values_list("state")) == {(CallState.DONE,)}
    assert GenerationRun.objects.get().state == RunState.ENDED


def test_a_fault_of_our_own_fails_its_call_alone(dataset, fake, monkeypatch):
    make_priced(slug="alder")
    fake.always = streamed(choice("A kind word."))
    asked, check = [], speaking.check_address

    async def check_all_but_one(request):
        asked.append(request)
        if len(asked) == 2:
            msg = "a bug"
            raise IndexError(msg)
        await check(request)

    monkeypatch.setattr(speaking, "check_address", check_all_but_one)

    complete("alder")

    failed = GenerationCall.objects.get(state=CallState.FAILED)
    assert failed.error_kind == "unexpected"
    assert "IndexError" in failed.error_detail
    assert GenerationCall.objects.filter(state=CallState.DONE).count() == N_CALLS - 1


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (said(QUOTA, 429), "payment"),
        (
            said({"error": {"message": "Unknown parameter: 'top_p'.", "param": "top_p"}}, 400),
            "the parameter top_p",
        ),
    ],
    ids=["an empty account", "a parameter"],
)
def test_three_refusals_that_no_text_explains_pause_the_run_and_name_why(fake, answer, named):
    make_priced(slug="alder")
    make_talks(27)
    fake.always = answer

    with pytest.raises(CommandError, match=named) as raised:
        complete("alder")

    run = GenerationRun.objects.get()
    assert raised.value.returncode == 1
    assert (run.state, run.pause_reason) == (RunState.PAUSED, "REFUSED")
    assert len(fake.requests) < 27  # what had been claimed was asked
    assert GenerationCall.objects.filter(state=CallState.PENDING).exists()


def test_what_no_database_holds_of_a_servers_words_is_marked_wherever_it_is_kept(dataset, fake):
    make_priced(slug="alder")
    fake.script.extend([streamed(choice("a\x00b")), streamed(choice("That sou", "a\x00b"))])
    complete("alder")
    make_priced(slug="birch")
    fake.always = said(b"a\x00b", 401)
    with pytest.raises(CommandError, match="a\ufffdb"):
        complete("birch")

    text, reason = GenerationCall.objects.filter(state=CallState.FAILED).order_by("pk")[:2]
    refused = GenerationCall.objects.filter(error_kind="authentication")
    assert (text.raw_answer, text.n_prompt_tokens) == ("a\ufffdb", 7)  # and its price is known
    assert (reason.finish_reason, reason.raw_answer) == ("a\ufffdb", "That sou")
    assert all("a\ufffdb" in call.error_detail for call in (reason, *refused))
    assert "a\ufffdb" in GenerationRun.objects.get(state=RunState.PAUSED).pause_detail


def test_bad_requests_that_differ_do_not_pause_a_run(fake):
    make_priced(slug="alder")
    make_talks(5)
    words = ["one", "two", "three", "four"]
    fake.script.extend(said({"error": {"message": f"No {word}."}}, 400) for word in words)
    fake.always = streamed(choice("A kind word."))

    complete("alder")

    assert GenerationCall.objects.filter(error_kind="bad_request").count() == 4
    assert GenerationRun.objects.get().state == RunState.ENDED


def test_what_was_taken_off_is_kept_and_counted(dataset, fake):
    make_priced(slug="alder")
    fake.script.append(streamed(choice("<think>hm</think>Supporter: Hello.")))
    fake.always = streamed(choice("A kind word."))
    complete("alder")
    out = StringIO()

    call_command("completions", "show", str(GenerationRun.objects.get().pk), stdout=out)

    call = GenerationCall.objects.get(honoured__has_key="stripped")
    assert call.completion is not None
    assert call.completion.text == "Hello."
    assert call.raw_answer == "<think>hm</think>Supporter: Hello."
    assert "taken off texts: role 1, thoughts 1" in out.getvalue()


@pytest.fixture
def call() -> JudgeCall:
    """Return the only call of a run with a budget."""
    comparison = make_comparison()
    judge = make_judge(
        name="Simulated alder",
        model_id="hosted_vllm/offline-judge-alder",
        is_simulated=True,
        parameters={"price": PRICE},
    )
    run = make_judge_run(study=comparison.study, budget_usd=Decimal(1), n_planned=1)
    return make_judge_call(run=run, comparison=comparison, judge=judge)


def test_an_answer_that_is_repaired_is_kept_with_what_was_and_costs_no_second_question(
    call, fake, clock
):
    keys = rubric.rubric_of(call.comparison.study.content).keys
    verdict = {
        "notes": dict.fromkeys(keys, "x"),
        "dimensions": {key: {"winner": "none", "strength": 0} for key in keys},
        "rationale": "It stays with the seeker.",
        "winner": "A",
        "strength": 3,
    }
    fake.always = completion(choice(f"Here it is: {json.dumps(verdict)}"))

    judging.ask_judges(clock=clock)

    assert (changed(call).state, call.honoured["repaired"]) == (CallState.DONE, ["text before"])
    assert len(fake.requests) == 1


def test_a_first_try_is_kept_without_what_no_database_holds(call, fake, clock):
    sent = json.dumps({"a\x00b": 1})
    fake.always = completion(choice(f"<think>a\x00b</think>{sent}"))

    judging.ask_judges(clock=clock)

    first_try = changed(call).asked["first_try"]
    assert call.state == CallState.INVALID
    assert first_try["answer"] == call.raw_answer == f"<think>a\ufffdb</think>{sent}"
    assert "\x00" not in first_try["fault"] + call.error_detail


def test_an_answer_is_counted_although_the_second_try_was_refused(call, provider, clock):
    provider.script.extend([Fault.BROKEN_ANSWER, Fault.RATE_LIMITED])

    judging.ask_judges(clock=clock, duration_s=1)  # it would wait to ask again, and time stands

    assert len(provider.calls) == 2
    assert (changed(call).state, call.error_kind) == (CallState.PENDING, "rate_limited")
    assert 0 < changed(call.run).spent_usd < Decimal("0.01")  # less than was reserved
    assert call.run.reserved_usd == call.reserved_usd == 0


def test_both_tries_are_counted_when_neither_could_be_read(call, provider, clock):
    provider.script.extend([Fault.BROKEN_ANSWER] * 2)

    judging.ask_judges(clock=clock)

    assert changed(call).state == CallState.INVALID
    assert changed(call.run).spent_usd == call.cost_usd > 0
    assert call.run.state == RunState.ENDED
