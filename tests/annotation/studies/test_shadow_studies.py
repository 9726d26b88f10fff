"""Shadow studies: everything of a study but its people and its seed."""

import hashlib

import pytest

from access.models import LogEntry
from annotation.choices import Purpose, StudyState
from annotation.models import QualityCheck, Study
from annotation.studies.services.shadow_studies import (
    Rehearsal,
    ShadowStudyError,
    make_shadow_study,
)
from tests.conftest import rolled_back
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_rater,
    make_study,
)

pytestmark = pytest.mark.django_db
TEN = Rehearsal(n_raters=10, seed=1)


@pytest.fixture
def study():
    study = make_study(slug="real", title="Kindness", session_length=4, judgments_per_pair=2)
    judged = make_comparison(study=study, slots_left=0, weight=2.0, shown_first_as_a=2)
    make_judgment(comparison=judged, rater=make_rater(study=study))
    make_comparison(study=study, held_at=NOW)
    make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0))
    return study


@pytest.fixture
def shadow(study):
    return make_shadow_study(study=study, rehearsal=TEN, now=NOW)


class TestATwin:
    def test_says_that_it_is_simulated_in_its_name_its_title_and_its_row(self, shadow, study):
        assert shadow.is_simulated
        assert shadow.slug == shadow.name == "simulated-real-10-1"
        assert shadow.title == "Simulated raters: Kindness"
        assert shadow.content["title"] == shadow.title
        entry = LogEntry.objects.get(action="study.rehearsed")
        assert entry.after == {"copy_of": "real", "raters": 10, "seed": 1}

    def test_is_open_and_locked_under_a_hash_of_its_own_without_people(self, shadow, study):
        assert (shadow.state, shadow.locked_at) == (StudyState.OPEN, NOW)
        assert len(shadow.protocol_hash) == 64
        assert shadow.protocol_hash != study.protocol_hash
        assert (shadow.raters.count(), study.raters.count()) == (0, 1)

    def test_has_the_protocol_of_its_study(self, shadow, study):
        differing = {
            key for key, value in shadow.content.items() if study.content.get(key) != value
        }

        own = {"slug", "name", "title", "version", "judgments_per_pair", "seed_sha256"}
        assert differing <= own
        assert shadow.session_length == study.session_length

    def test_has_a_seed_of_its_own_the_same_each_time_that_does_not_tell_its_studys(self, study):
        def seed_of(rehearsal):
            with rolled_back():
                shadow = make_shadow_study(study=study, rehearsal=rehearsal, now=NOW)
            assert shadow.content["seed_sha256"] == hashlib.sha256(shadow.seed.encode()).hexdigest()
            return shadow.seed

        assert seed_of(TEN) == seed_of(TEN) != seed_of(Rehearsal(10, 2))
        assert study.seed not in seed_of(TEN)

    def test_has_the_comparisons_with_every_slot_free_and_the_checks(self, shadow, study):
        def described(one: Study) -> list[tuple[object, ...]]:
            rows = one.comparisons.order_by("position")
            return list(rows.values_list("key", "first", "second", "purpose", "weight", "held_at"))

        main = shadow.comparisons.filter(purpose=Purpose.MAIN)
        assert described(shadow) == described(study)
        assert set(main.values_list("slots_left", "shown_first_as_a")) == {(20, 0)}
        check = QualityCheck.objects.get(comparison__study=shadow)
        assert (check.kind, check.expected, check.comparison.slots_left) == ("GOLD", "FIRST", 0)

    @pytest.mark.parametrize(
        ("rehearsal", "n"),
        [(Rehearsal(1, 1), 2), (Rehearsal(1000, 1, judgments_per_pair=3), 3)],
        ids=["as its study where its raters can give less", "as the rehearsal says"],
    )
    def test_asks_for_as_many_judgments(self, study, rehearsal, n):
        shadow = make_shadow_study(study=study, rehearsal=rehearsal, now=NOW)

        assert shadow.judgments_per_pair == n


class TestMakingATwin:
    def test_again_finds_it_and_for_other_numbers_makes_another(self, shadow, study):
        assert make_shadow_study(study=study, rehearsal=TEN, now=NOW) == shadow
        assert shadow.comparisons.count() == 3
        assert make_shadow_study(study=study, rehearsal=Rehearsal(10, 2), now=NOW) != shadow

    def test_of_a_long_name_stays_within_the_column(self):
        study = make_study(slug="long-" * 9 + "long", title="t" * 120)
        make_comparison(study=study)

        shadow = make_shadow_study(study=study, rehearsal=TEN, now=NOW)

        assert len(shadow.slug) <= 50
        assert shadow.slug.endswith("-10-1")

    def test_refuses_to_simulate_into_a_real_study(self, study):
        make_study(slug=TEN.slug(study))

        with pytest.raises(ShadowStudyError, match="never let into"):
            make_shadow_study(study=study, rehearsal=TEN, now=NOW)

    def test_refuses_a_copy_of_a_copy(self, shadow):
        with pytest.raises(ShadowStudyError, match="itself simulated"):
            make_shadow_study(study=shadow, rehearsal=TEN, now=NOW)

    def test_refuses_a_study_without_comparisons_and_writes_nothing(self):
        study = make_study()

        with pytest.raises(ShadowStudyError, match="plan it first"):
            make_shadow_study(study=study, rehearsal=TEN, now=NOW)
        assert Study.objects.count() == 1
