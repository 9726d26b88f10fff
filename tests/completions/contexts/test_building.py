"""Candidates become contexts: screened, stratified, repeatable, with a person's drops replaced."""

import itertools
from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import Review, Stratum, SystemKind
from completions.contexts.queries import context_lines
from completions.contexts.screening import rules
from completions.contexts.selection import SelectionError
from completions.contexts.services.building import build_contexts, screen_dataset
from completions.dialogues import couplets
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import import_dialogues
from completions.dialogues.ingest.files import read_dialogues
from completions.models import (
    Candidate,
    Completion,
    Context,
    Dataset,
    Dialogue,
    RewriteCall,
    System,
)
from completions.offline import Fault
from tests.helpers.datasets import native, parse_record, shared_file
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_candidate,
    make_context,
    make_dataset,
    make_dialogue,
)
from tests.helpers.providers import ASKS_LITELLM

pytestmark = pytest.mark.django_db

LATER = NOW + HOUR
SORROW = "I feel so sad and lonely since the move, and I cried again last night in week {}."
COMFORT = "That sounds heavy to carry. What was last night like for you, number {}?"


def make_record(name, *, emotion="sadness", problem="loneliness", n_couplets=5):
    """Return a dialogue that opens mildly and is sad from its second couplet on."""
    said = [("supporter", f"Hello, this is talk {name}."), ("seeker", "Hello to you.")]
    for week in range(n_couplets - 1):
        said += [("supporter", COMFORT.format(week)), ("seeker", SORROW.format(week))]
    said.append(("supporter", COMFORT.format("last")))
    return parse_record(native(*said, emotion_type=emotion, problem_type=problem), 1)


def store(dialogues, *, name="Talks"):
    import_dialogues(dataset_name=name, dialogues=dialogues, now=NOW)
    return Dataset.objects.get(name=name)


def build(n, *, name="Talks", seed=7):
    return build_contexts(dataset_name=name, n=n, seed=seed, now=NOW)


@pytest.fixture
def dataset():
    return store([make_record(f"sad {n}") for n in range(6)])


class TestScreening:
    def test_keeps_every_couplet_with_what_was_found_once(self, dataset):
        make_candidate(dialogue=make_dialogue())  # of another dataset

        report, again = (screen_dataset(dataset=dataset, now=now) for now in (NOW, LATER))

        dialogue = dataset.dialogues.first()
        rows = dialogue.candidates.order_by("turn_index")
        expected = rules.screen(dialogue.turns, situation="", language="en")
        assert [row.turn_index for row in rows] == couplets.couplets(dialogue.turns)
        assert [row.reasons for row in rows] == [list(one.reasons) for one in expected]
        assert [row.is_suitable for row in rows] == [False, True, True, True, True]
        assert report == again == (30, 24)
        assert not Candidate.objects.filter(screened_at=LATER).exists()
        (found, *_) = [one for one in rows[1].findings if one["rule"] == "distress"]
        text = dialogue.turns[found["turn"]]["text"]
        assert text[found["start"] : found["end"]] in SORROW

    def test_resumes_where_it_was_killed(self, dataset, monkeypatch):
        monkeypatch.setattr("completions.contexts.services.building.BATCH", 2)

        def killed(dialogues):
            yield from itertools.islice(dialogues, 3)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            screen_dataset(dataset=dataset, now=NOW, shown=killed)

        assert Candidate.objects.count() == 2 * 5
        screen_dataset(dataset=dataset, now=LATER)
        assert Candidate.objects.filter(screened_at=LATER).count() == 4 * 5

    def test_screens_again_when_the_rules_change_and_keeps_the_rows(self, dataset, monkeypatch):
        screen_dataset(dataset=dataset, now=NOW)
        before = set(Candidate.objects.values_list("pk", flat=True))
        monkeypatch.setattr(rules, "rules_version", lambda _language: "screening-next")

        screen_dataset(dataset=dataset, now=LATER)

        assert Candidate.objects.filter(screened_at=LATER).count() == 30
        assert set(Candidate.objects.values_list("pk", flat=True)) == before
        assert set(Candidate.objects.values_list("rules", flat=True)) == {"screening-next"}

    def test_removes_what_it_has_no_words_for(self):
        dataset = make_dataset()
        make_dialogue(dataset=dataset, language="xx", turns=make_record("any").stored_turns)

        report = screen_dataset(dataset=dataset, now=NOW)

        assert report.n_suitable == 0
        assert all("language" in one.reasons for one in Candidate.objects.all())


class TestBuildContexts:
    def test_cuts_suitable_couplets_and_keeps_their_replies_as_completions(self, dataset):
        build(8)

        system = System.objects.get(kind=SystemKind.ORIGINAL)
        assert (system.name, system.completions.count()) == ("Original dataset", 8)
        assert Context.objects.count() == 8
        for completion in system.completions.select_related("context__dialogue"):
            context, turns = completion.context, completion.context.dialogue.turns
            reply = turns[context.turn_index + 1]
            assert context.turns == turns[: context.turn_index + 1]
            assert context.turns[-1]["role"] == "seeker"
            assert (reply["role"], reply["text"]) == ("supporter", completion.text)
            assert context.stratum == Stratum.REGULAR
            assert context.slots_left == dataset.completions_per_context
            assert Candidate.objects.get(
                dialogue=context.dialogue_id, turn_index=context.turn_index
            ).is_suitable

    def test_records_where_each_context_is_from_and_why(self, dataset):
        build(1, seed=11)

        context = Context.objects.select_related("dialogue").get()
        candidate = Candidate.objects.get(
            dialogue=context.dialogue_id, turn_index=context.turn_index
        )
        assert context.provenance == {
            "dialogue": context.dialogue.content_hash,
            "turn_index": context.turn_index,
            "cell": ["sadness", "loneliness"],
            "signals": ["distress"],
            "findings": candidate.findings,
            "screening": rules.rules_version("en"),
            "selection": "cells-2",
            "seed": 11,
        }

    def test_extends_what_is_there_and_adds_nothing_when_repeated(self, dataset):
        build(5)
        first = set(Context.objects.values_list("key", flat=True))

        extended, repeated = build(9), build(9)

        assert (extended.n_added, extended.n_contexts) == (4, 9)
        assert repeated.n_added == 0
        assert (Context.objects.count(), Completion.objects.count()) == (9, 9)
        assert first < set(Context.objects.values_list("key", flat=True))
        assert LogEntry.objects.filter(action="contexts.built").count() == 2

    def test_counts_a_cell_as_the_source_has_it_and_not_as_the_rules_leave_it(self):
        """Half of the angry dialogues have no suitable couplet; their share stays."""
        angry = {"emotion": "anger", "problem": "school"}
        sad = [make_record(f"sad {n}") for n in range(4)]
        cross = [make_record(f"cross {n}", **angry) for n in range(2)]
        store([*sad, *cross, *(make_record(f"calm {n}", n_couplets=1, **angry) for n in range(2))])

        build(4)

        emotions = Context.objects.values_list("dialogue__emotion_type", flat=True)
        assert Counter(emotions) == {"sadness": 2, "anger": 2}

    def test_replaces_what_a_reviewer_dropped(self, dataset):
        build(6)
        dropped = Context.objects.earliest("key")
        Context.objects.filter(pk=dropped.pk).update(review=Review.DROPPED)

        report = build(6)

        assert (report.n_added, report.n_contexts) == (1, 6)
        assert Context.objects.in_use().count() == 6
        assert Context.objects.count() == 7

    def test_never_chooses_a_dropped_one_again(self, dataset):
        build(12)
        Context.objects.update(review=Review.DROPPED)

        with pytest.raises(SelectionError):
            build(24)

    def test_does_not_count_adversarial_ones(self, dataset):
        make_context(dialogue=dataset.dialogues.first(), turn_index=3, stratum=Stratum.ADVERSARIAL)

        assert build(4).n_added == 4

    def test_refuses_more_than_there_are_and_keeps_the_screening(self, dataset):
        with pytest.raises(SelectionError, match="13 contexts were asked for and 12"):
            build(13)

        assert not Context.objects.exists()
        assert Candidate.objects.count() == 30

    def test_gives_the_same_bytes_wherever_it_runs(self):
        dialogues = [make_record(f"sad {n}") for n in range(6)]
        one = store(dialogues)
        build(7)
        first = list(context_lines(one))
        Completion.objects.all().delete()
        Context.objects.all().delete()
        Candidate.objects.all().delete()
        Dialogue.objects.all().delete()

        store(reversed(dialogues))
        build(7)

        assert list(context_lines(one)) == first


@ASKS_LITELLM
class TestBuildCommand:
    @pytest.fixture
    def build_demo(self, capsys):
        """Return what builds 24 contexts of the demo's dialogues, and what it printed."""
        store(read_dialogues(DIALOGUES))

        def _build(*options):
            call_command("contexts", "build", "--dataset", "talks", "--regular", "24", *options)
            return capsys.readouterr()

        return _build

    def test_says_how_many_are_simulated_and_why_a_rewrite_was_dropped(self, build_demo, provider):
        provider.script.append(Fault.FILTERED)

        said = build_demo("--adversarial", "2")

        assert "talks: 24 contexts (24 new) of 12 dialogues, from " in said.out
        assert "talks: 2 adversarial contexts (2 new), simulated" in said.out
        assert "2 of 2 adversarial contexts" in said.err
        assert "Dropped: The provider failed: content_filtered." in said.err
        assert len(provider.calls) == RewriteCall.objects.count() == 5

    def test_runs_the_offline_provider_if_nobody_does(self, build_demo, nobody, settings):
        assert "2 adversarial contexts (2 new)" in build_demo("--adversarial", "2").out
        assert nobody == settings.HEART_OFFLINE_LLM_URL

    @pytest.mark.parametrize("options", [(), ("--adversarial", "0")])
    def test_makes_no_adversarial_context_unasked(self, build_demo, nobody, options):
        assert "adversarial" not in build_demo(*options).out
        assert not RewriteCall.objects.exists()

    def test_refuses_what_cannot_be(self, build_demo, provider, subtests):
        for options, reason, code in (
            ("--dataset nowhere", "there is no dataset", 2),
            ("--regular 280", "280 contexts were asked for and 24", 2),
            ("--regular 0", "above zero", 1),
            ("--regular few", "above zero", 1),
            ("--adversarial 999", "999 adversarial contexts", 2),
            ("--adversarial 2 --rewriter=", "is no id of a model", 2),
            ("--adversarial 2 --hostility-rater=", "is no id of a model", 2),
        ):
            with subtests.test(options):
                with pytest.raises(CommandError, match=reason) as caught:
                    build_demo(*options.split())
                assert caught.value.returncode == code

    def test_refuses_to_go_on_where_no_question_is_taken(self, build_demo, provider):
        provider.script += [Fault.UNAUTHORIZED] * 2

        with pytest.raises(CommandError, match="the provider takes no question") as caught:
            build_demo("--adversarial", "2")

        assert caught.value.returncode == 2


@pytest.mark.parametrize(
    ("n", "n_dialogues", "within"),
    [
        pytest.param(28, 130, 0.05, id="a tenth"),
        pytest.param(280, 1300, 0.03, marks=pytest.mark.full, id="the published size"),
    ],
)
def test_real_dialogues_reach_the_size_in_proportion(n, n_dialogues, within):
    dialogues = read_dialogues(shared_file("esconv/ESConv.json"))
    dataset = store(itertools.islice(dialogues, n_dialogues))

    report = build(n)

    per_dialogue = Counter(dataset.contexts.values_list("dialogue", flat=True))
    assert report.n_contexts == n < report.n_candidates <= 7.5 * n
    assert report.n_dialogues == len(per_dialogue) >= 5 / 7 * n
    assert max(per_dialogue.values()) <= 2
    assert_close_to_source(dataset, within)


def assert_close_to_source(dataset, within):
    """Classes of 5 % and more keep their share."""
    emotions = Counter(dataset.dialogues.values_list("emotion_type", flat=True))
    chosen = Counter(dataset.contexts.values_list("dialogue__emotion_type", flat=True))
    for emotion, n in emotions.items():
        share = n / emotions.total()
        if share >= 0.05:
            assert abs(chosen[emotion] / chosen.total() - share) <= within, emotion
