"""Studies from their files: created, locked, versioned, opened, closed; what a plan fixes."""

import pytest

from access.models import LogEntry
from annotation.choices import PlanKind, Protocol, Purpose, StudyState
from annotation.models import Study
from annotation.planning import services as annotation
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.protocol.parts import Checks
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.studies.services.drafts import versioned_slug
from completions.choices import LeaseOutcome, MessageState, MessageVerdict
from completions.dialogues import locking, normaliser
from completions.files.toml import content_hash
from completions.models import Completion, Message
from completions.writers.services.review_decisions import decide_message
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_quality_check,
    make_study,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_accepted, make_audit, make_sent

pytestmark = pytest.mark.django_db

RUBRIC = load_rubric("heart-1")
SEED, OTHER_SEED = "8f3a09c1d4e27b65a0f1c2d3e4b5968f", "51c0ffee9a8b7d6e5f40312a4b3c2d1e"


def protocol(file="heart-preference", **changes):
    return load_protocol(STUDIES / f"{file}.toml").model_copy(update=changes)


def create(file="heart-preference", *, dataset=None, **changes):
    told = {"protocol": protocol(file, **changes), "rubric": RUBRIC}
    return drafts.create_study(dataset=dataset or make_dataset(), now=NOW, **told)


def version(**changes):
    return drafts.create_version(protocol=protocol(**changes), rubric=RUBRIC, now=NOW)


def lock(study):
    return states.lock_study(study=study, now=NOW)


class TestCreateStudy:
    @pytest.mark.parametrize("name", ["heart-preference", "heart-rubric"])
    def test_stores_the_studies_that_ship(self, name):
        study = create(name)

        assert (study.slug, study.name, study.version) == (name, name, 1)
        assert (study.state, study.plan) == (StudyState.DRAFT, PlanKind.BALANCED)
        assert (study.judgments_per_pair, study.pairs_per_context) == (5, 28)
        assert study.protocol == Protocol(name.removeprefix("heart-").upper())
        assert study.content["normaliser"] == normaliser.VERSION
        assert len(study.content["rubric"]["dimensions"]) == 5

    def test_replaces_a_draft_that_nothing_rests_on(self):
        first = create(title="As it was")
        again = create(title="As it is now", dataset=first.dataset)

        assert again.pk == first.pk
        stored = Study.objects.get()
        assert stored.title == stored.content["title"] == "As it is now"
        logged = LogEntry.objects.order_by("pk").values_list("action", flat=True)
        assert list(logged) == ["study.created", "study.replaced"]

    @pytest.mark.parametrize(
        "rest_on_it",
        [lock, lambda study: make_comparison(study=study)],
        ids=["locked", "planned"],
    )
    def test_does_not_replace_a_study_that_something_rests_on(self, rest_on_it):
        rest_on_it(create())

        with pytest.raises(drafts.StudyExistsError, match="heart-preference"):
            create(title="Changed")

        assert Study.objects.get().title != "Changed"

    def test_is_refused_where_another_study_is_that_version(self):
        lock(create())
        made = version(title="Changed")

        with pytest.raises(drafts.StudyExistsError, match=f'2 of "{made.name}" is the study'):
            create(slug="fresh", name=made.name, version=2)
        with pytest.raises(drafts.StudyExistsError, match='is the study "heart-preference"'):
            create(slug="fresh", name=made.name)

        assert Study.objects.count() == 2

    def test_is_refused_where_another_study_has_the_slug_as_its_name(self):
        create(slug="fresh", name="heart-preference")

        with pytest.raises(drafts.StudyExistsError, match='is the study "fresh" already'):
            create()


class TestTheSeed:
    def test_is_drawn_for_each_study_and_version_and_stays_with_a_replaced_draft(self):
        one, other = create(title="As it was"), create(slug="other")
        again = create(title="As it is now")
        lock(again)
        later = version(title="Changed")

        assert len(one.seed) == len(other.seed) == 32
        assert len({one.seed, other.seed, later.seed}) == 3
        assert again.seed == one.seed

    def test_of_another_study_or_an_earlier_version_is_refused(self):
        lock(create(seed=SEED))

        with pytest.raises(drafts.SeedTakenError, match="another study has this one"):
            create(slug="other", seed=SEED)
        with pytest.raises(drafts.SeedTakenError):
            version(title="Changed", seed=SEED)

    def test_alone_can_be_what_a_version_changes(self):
        lock(create(seed=SEED))

        with pytest.raises(drafts.NothingChangedError):
            version(seed=SEED)
        assert version(seed=OTHER_SEED).seed == OTHER_SEED

    def test_is_disclosed_once_the_study_is_closed(self):
        study = create()
        told = [study.disclosed_seed]
        for move in (states.open_study, states.pause_study, states.close_study):
            study = move(study=study, now=NOW)
            told.append(study.disclosed_seed)

        assert told == ["", "", "", study.seed]


def edit(study, *, dataset="", **changes):
    """Change a draft, perhaps to a new dataset; return how much of its plan is void."""
    on = make_dataset(slug=dataset) if dataset else study.dataset
    told = {"protocol": protocol(**changes), "rubric": RUBRIC, "dataset": on}
    return drafts.edit_study(study=study, now=NOW, **told)[1]


def plan_by_hand(study):
    """Plan a comparison and a check."""
    make_comparison(study=study)
    make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK))


class TestEditStudy:
    def test_stores_and_logs_what_was_before_and_after(self):
        study = create()

        edit(study, title="Another title", session_length=7)

        entry = LogEntry.objects.get(action="study.edited")
        assert Study.objects.get().title == "Another title"
        assert entry.before == {"session_length": 40, "title": study.title}
        assert entry.after == {"session_length": 7, "title": "Another title"}

    def test_of_nothing_writes_nothing_and_of_texts_keeps_plan_and_seed(self):
        study = create()
        plan_by_hand(study)

        assert edit(study) == 0
        assert not LogEntry.objects.filter(action="study.edited").exists()
        assert edit(study, title="Another title") == 0
        assert study.comparisons.count() == 2
        assert Study.objects.get().seed == study.seed

    @pytest.mark.parametrize(
        "change",
        [
            {"judgments_per_pair": 7},
            {"seed": SEED},
            {"pairs_per_context": 1},
            {"checks": Checks()},
            {"systems": ("ash", "human")},
            {"dataset": "another"},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_of_what_a_plan_is_made_from_voids_it(self, change):
        study = create()
        plan_by_hand(study)

        assert edit(study, **change) == 1

        assert not study.comparisons.exists()
        assert LogEntry.objects.get(action="study.edited").after["comparisons_void"] == 1

    def test_is_refused_once_the_study_is_locked(self):
        with pytest.raises(states.StudyStateError, match="locked"):
            edit(lock(create()), title="Changed")


class TestLockStudy:
    def test_freezes_the_content_under_its_hash_once(self):
        study = lock(create())
        again = lock(study)

        assert (study.state, study.locked_at) == (StudyState.LOCKED, NOW)
        assert study.protocol_hash == again.protocol_hash == content_hash(study.content)
        entry = LogEntry.objects.get(action="study.locked")
        assert entry.after == {"state": "LOCKED", "protocol_hash": study.protocol_hash}

    def test_comes_with_the_first_opening_of_a_draft(self):
        study = states.open_study(study=create(), now=NOW)

        assert study.protocol_hash == content_hash(study.content)
        assert study.state == StudyState.OPEN

    def test_gives_the_same_hash_on_any_database(self):
        one = lock(create(seed=SEED))
        other = create(slug="other", version=2, seed=OTHER_SEED)
        again = protocol(seed=SEED).content(RUBRIC.content(), normaliser=normaliser.VERSION)

        assert one.protocol_hash == content_hash(again)
        assert lock(other).protocol_hash != one.protocol_hash


class TestStates:
    @pytest.mark.parametrize(
        ("state", "move", "then"),
        [
            ("LOCKED", states.open_study, "OPEN"),
            ("LOCKED", states.close_study, "CLOSED"),
            ("OPEN", states.pause_study, "PAUSED"),
            ("PAUSED", states.open_study, "OPEN"),
            ("PAUSED", states.close_study, "CLOSED"),
        ],
    )
    def test_change_and_nothing_else_does(self, state, move, then):
        study = make_study(state=state)
        before = Study.objects.values().get()

        move(study=study, now=NOW)

        assert Study.objects.values().get() == before | {"state": then}

    @pytest.mark.parametrize(
        ("state", "move"),
        [
            ("CLOSED", states.open_study),
            ("CLOSED", states.lock_study),
            ("OPEN", states.lock_study),
            ("LOCKED", states.pause_study),
        ],
    )
    def test_that_cannot_follow_are_refused(self, state, move):
        study = make_study(state=state)

        with pytest.raises(states.StudyStateError, match="cannot be"):
            move(study=study, now=NOW)

        assert Study.objects.get().state == state

    def test_of_a_draft_do_not_skip_the_lock(self):
        with pytest.raises(states.StudyStateError):
            states.close_study(study=create(), now=NOW)


class TestCreateVersion:
    def test_makes_a_changed_file_the_draft_of_the_next_version(self):
        first = lock(create())
        make_comparison(study=first)
        shadow = {"is_simulated": True, "title": "Simulated raters"}
        make_study(name="heart-preference", version=9, **shadow)

        second = version(title="Changed")

        assert (second.slug, second.name) == ("heart-preference-v2", "heart-preference")
        assert (second.version, second.state, second.protocol_hash) == (2, StudyState.DRAFT, "")
        assert (second.dataset, second.content["version"]) == (first.dataset, 2)
        assert not second.comparisons.exists()
        assert Study.objects.get(pk=first.pk).title != "Changed"

    def test_replaces_the_draft_of_the_next_version_and_goes_on_counting_once_it_is_locked(self):
        lock(create())
        audit = make_audit(study=version(title="Changed"))

        again = version(title="Changed once more")

        assert (again.slug, again.title) == ("heart-preference-v2", "Changed once more")
        assert (Study.objects.count(), audit.study) == (2, again)
        lock(again)
        assert version(title="Changed again").slug == "heart-preference-v3"

    def test_is_refused_when_the_file_says_the_same(self):
        lock(create())

        with pytest.raises(drafts.NothingChangedError, match="heart-preference"):
            version()

    def test_is_refused_of_nothing_and_of_a_draft(self):
        with pytest.raises(drafts.StudyNotFoundError, match="heart-preference"):
            version()
        create()
        with pytest.raises(states.StudyStateError, match="draft"):
            version(title="Changed")

    def test_is_refused_where_another_study_has_its_slug(self):
        lock(create())
        create(slug="heart-preference-v2")

        with pytest.raises(drafts.StudyExistsError, match='"heart-preference-v2" already'):
            version(title="Changed")

    def test_leaves_a_draft_alone_that_is_planned(self):
        lock(create())
        make_comparison(study=version(title="Changed"))

        with pytest.raises(states.StudyStateError, match="planned already"):
            version(title="Changed once more")

        assert Study.objects.get(version=2).title == "Changed"

    def test_shortens_a_long_name(self):
        assert versioned_slug("a" * 48 + "-b", 12) == "a" * 46 + "-v12"
        assert versioned_slug("a" * 45 + "-b", 2) == "a" * 45 + "-b-v2"


SUBMITTED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


@pytest.fixture(params=[Protocol.PREFERENCE, Protocol.LIKERT])
def study(request):
    return make_study(protocol=request.param)


def accepted_in(study, text="I hear how much that weighs on you."):
    """A text of a person, beside one of a model in the same context."""
    context = make_context(dataset=study.dataset)
    make_completion(context=context)
    return make_accepted(text, lease=make_writing_lease(context=context, **SUBMITTED))


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
