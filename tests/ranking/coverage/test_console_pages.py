"""The coverage map: contexts by systems, each cell, and what failed tried again."""

import pytest
from django.test import RequestFactory
from django.urls import reverse

from access.models import LogEntry
from completions.choices import CallState, RunState
from completions.systems import coverage
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import DONE, make_generation_run
from tests.helpers.factories_of_people import make_hold
from tests.helpers.factories_written_once import make_imported_completion
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

STATES = ("there", "held", "running", "failed", "missing")


@pytest.fixture
def study():
    """Two contexts; in the first each system is in another state, in the second all is there."""
    dataset = make_dataset()
    first, second = (
        make_context(dialogue=make_dialogue(dataset=dataset), key=key) for key in ("one", "two")
    )
    systems = {state: make_system(slug=state, name=state.title()) for state in STATES}
    for system in systems.values():
        make_completion(context=second, system=system)
    make_completion(context=first, system=systems["there"])
    held = make_completion(context=first, system=systems["held"])
    make_hold(completion=held, reasons=[{"reason": "refusal", "matched": "cannot"}])
    run = make_generation_run(dataset=dataset, state=RunState.ENDED, ended_at=NOW)
    make_generation_call(context=first, system=systems["running"])
    make_generation_call(
        context=first,
        system=systems["failed"],
        run=run,
        state=CallState.FAILED,
        ended_at=NOW,
        attempts=3,
        error_kind="timeout",
        error_detail="took too long",
    )
    return make_study(dataset=dataset)


def address(name, study, *more):
    return reverse(f"raters:{name}", args=[study.slug, *more])


def found(study, **asked):
    others = {name: asked.get(name, "") for name in ("state", "system")}
    query = coverage.COVERAGE.asked(RequestFactory().get("/", asked), **others)
    return coverage.coverage(study.dataset, query, "1")


def counts_of(page):
    columns = zip(*(counts for _state, _label, counts in page["totals"]), strict=True)
    states = [state for state, _label, _counts in page["totals"]]
    return {
        system.slug: dict(zip(states, counts, strict=True))
        for system, counts in zip(page["systems"], columns, strict=True)
    }


def states_of(cells):
    return {cell.system: cell.state for cell in cells}


def keys_of(page):
    return [context.key for context, _cells in page["rows"]]


class TestMap:
    def test_tells_the_states_apart_and_counts_each_system_over_all_contexts(self, study):
        page = found(study)

        (_one, cells_of_one), (_two, cells_of_two) = page["rows"]
        assert states_of(cells_of_one) == {name: name for name in STATES}
        assert set(states_of(cells_of_two).values()) == {"there"}
        totals = counts_of(page)
        none = dict.fromkeys(STATES, 0)
        assert totals.pop("there") == none | {"there": 2}
        assert totals == {state: none | {"there": 1, state: 1} for state in totals}

    @pytest.mark.parametrize("state", STATES)
    def test_lists_the_contexts_with_a_state_of_all_systems_or_of_one(self, study, state):
        of_all = found(study, state=state)
        of_one = found(study, system=state, state=state)

        keys = ["one", "two"] if state == "there" else ["one"]
        for page in (of_all, of_one):
            assert keys_of(page) == keys
        assert [system.slug for system in of_one["systems"]] == [state]

    @pytest.mark.parametrize(
        ("sort", "keys"),
        [
            ("context", ["one", "two"]),
            ("-context", ["two", "one"]),
            ("there", ["one", "two"]),
            ("-there", ["two", "one"]),
        ],
    )
    def test_is_sorted_as_asked(self, study, sort, keys):
        assert keys_of(found(study, sort=sort)) == keys

    def test_counts_a_call_of_a_text_that_is_there_as_there(self, study):
        context = study.dataset.contexts.get(key="one")
        done = make_completion(context=context, system=make_system(slug="done"))
        make_generation_call(context=context, system=done.system, completion=done, **DONE)

        page = found(study)

        (_one, cells), _two = page["rows"]
        assert states_of(cells)["done"] == "there"
        assert counts_of(page)["done"] == dict.fromkeys(STATES, 0) | {"there": 1, "missing": 1}

    def test_says_each_state_in_words_and_leads_to_each_cell(self, admin_client, study):
        page = admin_client.get(address("coverage", study)).content.decode()

        for state in STATES:
            assert f'href="{address("cell", study, "one", state)}"' in page
        assert 'class="cell failed"' in page
        assert '<span class="hidden">failed</span>' in page

    def test_says_how_to_begin_where_there_is_nothing(self, admin_client):
        page = admin_client.get(address("coverage", make_study()))

        assert "No system has completed" in text(page)

    def test_is_downloaded_cell_by_cell(self, admin_client, study):
        answer = admin_client.get(address("coverage_csv", study), {"state": "failed"})

        lines = b"".join(answer).decode().splitlines()
        assert lines[0] == "context,system,state,completions"
        assert set(lines[1:]) == {f"one,{s},{s},{int(s == 'there')}" for s in STATES}


class TestCell:
    @pytest.mark.parametrize(
        ("system", "said"),
        [
            ("failed", ["Attempts 3", "timeout", "took too long", "Make the calls again"]),
            ("failed", ["1 call is made again, and paid for again."]),
            ("held", ["refusal"]),
        ],
        ids=["what went wrong", "what trying again means", "why it is held"],
    )
    def test_says_why_there_is_no_text(self, admin_client, study, system, said):
        page = text(admin_client.get(address("cell", study, "one", system)))

        assert [words for words in said if words not in page] == []

    def test_shows_the_text_and_says_that_it_was_made_elsewhere(self, admin_client, study):
        there = study.dataset.contexts.get(key="two").completions.get(system__slug="there")
        make_imported_completion(completion=there, model_version="v1", source="A <paper>")

        page = text(admin_client.get(address("cell", study, "two", "there")))

        assert there.text in page
        assert "brought in from outside ( v1, A &lt;paper&gt; )" in page
        assert "brought in" not in text(admin_client.get(address("cell", study, "one", "there")))

    @pytest.mark.parametrize("place", [("one", "nobody"), ("nowhere", "there")])
    def test_of_what_does_not_exist_is_not_found(self, admin_client, study, place):
        assert admin_client.get(address("cell", study, *place)).status_code == 404


class TestTryingAgain:
    @pytest.mark.parametrize(
        "meant",
        [{"context": "one", "system": "failed"}, {"system": "failed"}, {}],
        ids=["a cell", "a system", "all"],
    )
    def test_asks_again_and_logs_it(self, admin_client, admin_user, study, meant):
        page = text(admin_client.post(address("retry", study), meant, follow=True))

        assert "1 call is made again." in page
        assert states_of(found(study, system="failed")["rows"][0][1]) == {"failed": "running"}
        assert LogEntry.objects.get().by == admin_user

    def test_leaves_other_systems_and_other_datasets_alone(self, admin_client, study):
        page = text(admin_client.post(address("retry", study), {"system": "there"}, follow=True))
        admin_client.post(address("retry", make_study()))

        assert "Nothing had failed" in page
        assert states_of(found(study, system="failed")["rows"][0][1]) == {"failed": "failed"}
