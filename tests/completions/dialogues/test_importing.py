import itertools

import pytest
from hypothesis import HealthCheck, given, settings

from access.models import LogEntry
from completions.dialogues import importing, ingest
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import DatasetNameError, import_dialogues
from completions.models import Dataset, Dialogue
from tests.helpers.datasets import (
    SEEKER,
    SUPPORTER,
    UTTERANCES,
    failed,
    hub,
    native,
    own,
    shared_file,
    write_array,
    write_lines,
)
from tests.helpers.factories import make_dataset

ONE_SPEAKER = native((SEEKER, "Hi."), (SEEKER, "Is anybody there?"))
OTHER = native((SEEKER, "I failed again."), (SUPPORTER, "At what?"))


@pytest.fixture(scope="module")
def dialogues():
    return list(ingest.read_dialogues(DIALOGUES))


@pytest.fixture
def imported(db, dialogues, now):
    return import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)


@pytest.mark.django_db
class TestImportDialogues:
    def test_stores_turns_roles_and_labels(self, dialogues, now):
        report = import_dialogues(
            dataset_name="Demo set",
            dialogues=dialogues,
            now=now,
            licence="Apache-2.0",
            is_authored=True,
        )

        dataset = report.dataset
        row = dataset.dialogues.get(position=2)
        assert (dataset.slug, dataset.licence, dataset.is_authored) == (
            "demo-set",
            "Apache-2.0",
            True,
        )
        assert (row.emotion_type, row.problem_type) == ("sadness", "bereavement")
        assert row.source_labels["emotion_type"] == "sadness"
        assert [turn["role"] for turn in row.turns[:2]] == ["seeker", "supporter"]
        assert row.n_utterances == 13
        assert row.imported_at == now

    def test_counts_what_it_read(self, imported):
        assert imported.n_dialogues == imported.n_added == 12
        assert imported.n_utterances == 150
        assert imported.n_turns == 138
        assert imported.n_couplets == 66

    def test_adds_nothing_when_repeated(self, imported, dialogues, now):
        again = import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        assert again.dataset == imported.dataset
        assert again.n_added == 0
        assert imported.dataset.dialogues.count() == 12

    def test_adds_only_the_new_ones(self, dialogues, now):
        import_dialogues(dataset_name="Demo", dialogues=dialogues[:5], now=now)

        report = import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        assert report.n_added == 7

    def test_keeps_one_of_a_dialogue_given_twice(self, dialogues, now):
        report = import_dialogues(dataset_name="Demo", dialogues=dialogues[:1] * 2, now=now)

        assert report.n_added == 1

    def test_keeps_datasets_apart(self, imported, dialogues, now):
        other = import_dialogues(dataset_name="Other", dialogues=dialogues, now=now)

        assert other.n_added == 12

    def test_logs_once(self, imported, dialogues, now):
        import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        entry = LogEntry.objects.get(action="dialogues.imported")
        assert (entry.subject, entry.after["added"]) == ("dataset demo", 12)

    @pytest.mark.parametrize(
        ("name", "message"),
        [("数据", "needs a Latin letter or a digit"), ("long " * 11, "more than 50 characters")],
    )
    def test_refuses_a_name_without_an_address(self, dialogues, now, name, message):
        with pytest.raises(DatasetNameError, match=message):
            import_dialogues(dataset_name=name, dialogues=dialogues, now=now)

    def test_costs_a_fixed_number_of_queries(self, dialogues, now, django_assert_max_num_queries):
        make_dataset(slug="demo")

        # Savepoint in and out, dataset and lock, what it has, one batch (SQLite may cut it), log.
        with django_assert_max_num_queries(10):
            import_dialogues(dataset_name="demo", dialogues=dialogues, now=now)


@pytest.mark.django_db
class TestBadRecords:
    def test_are_skipped_counted_and_logged(self, tmp_path, now):
        path = write_array(tmp_path / "talks.json", [native(), ONE_SPEAKER, "words", OTHER])

        report = import_dialogues(
            dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_dialogues, report.n_added, report.n_skipped) == (2, 2, 2)
        assert [str(one) for one in report.bad] == [
            "dialogue 2: both a seeker and a supporter must speak",
            "dialogue 3: expected an object",
        ]
        assert LogEntry.objects.get().after["skipped"] == 2

    def test_leave_the_places_of_the_others(self, tmp_path, now):
        path = write_array(tmp_path / "talks.json", [native(), ONE_SPEAKER, OTHER])

        import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        assert set(Dialogue.objects.values_list("position", flat=True)) == {0, 2}

    @pytest.mark.parametrize("at", [0, 2])
    def test_end_a_strict_import_with_nothing_written(self, tmp_path, monkeypatch, now, at):
        monkeypatch.setattr(importing, "BATCH", 1)
        records = [native(), OTHER]
        records.insert(at, ONE_SPEAKER)
        path = write_array(tmp_path / "talks.json", records)

        with pytest.raises(ingest.IngestError, match=f"dialogue {at + 1}: both"):
            import_dialogues(
                dataset_name="Talks",
                dialogues=ingest.strictly(ingest.read_dialogues(path)),
                now=now,
            )

        assert not Dataset.objects.exists()
        assert not Dialogue.objects.exists()
        assert not LogEntry.objects.exists()


@pytest.mark.django_db
class TestBatches:
    @pytest.mark.parametrize("size", [1, 5, 12])
    def test_hold_the_same_dialogues_whatever_their_size(self, monkeypatch, dialogues, now, size):
        monkeypatch.setattr(importing, "BATCH", size)

        report = import_dialogues(dataset_name="Demo", dialogues=[*dialogues * 2], now=now)

        assert (report.n_dialogues, report.n_added) == (24, 12)
        positions = Dialogue.objects.values_list("position", flat=True)
        assert sorted(positions) == list(range(12))

    def test_are_stored_before_the_next_is_read(self, monkeypatch, dialogues, now):
        monkeypatch.setattr(importing, "BATCH", 4)
        stored = []

        def read():
            for dialogue in dialogues:
                stored.append(Dialogue.objects.count())
                yield dialogue

        import_dialogues(dataset_name="Demo", dialogues=read(), now=now)

        assert stored == [0] * 4 + [4] * 4 + [8] * 4

    def test_are_none_of_them_kept_when_reading_fails(self, monkeypatch, tmp_path, now):
        monkeypatch.setattr(importing, "BATCH", 1)
        path = write_array(tmp_path / "talks.json", [native(), OTHER])
        path.write_text(path.read_text(encoding="utf-8")[:-2] + ", oops]", encoding="utf-8")

        with pytest.raises(ingest.IngestError, match="Expecting value"):
            import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        assert not Dataset.objects.exists()


@pytest.mark.django_db
class TestSpellings:
    @pytest.mark.parametrize("spelled", [hub, failed, own])
    def test_of_a_dialogue_that_is_there_add_nothing(self, tmp_path, now, spelled):
        import_dialogues(
            dataset_name="Talks", dialogues=[ingest.parse_record(native(), 1)], now=now
        )
        path = write_lines(tmp_path / "again.jsonl", [spelled()])

        report = import_dialogues(
            dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_dialogues, report.n_added) == (1, 0)
        assert Dialogue.objects.count() == 1

    def test_of_our_own_keep_name_and_language(self, tmp_path, now):
        path = write_lines(tmp_path / "own.jsonl", [own(id="clinic-7", language="de")])

        import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        row = Dialogue.objects.get()
        assert (row.source_id, row.language) == ("clinic-7", "de")

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
    @given(said=UTTERANCES)
    def test_are_stored_without_two_turns_of_one_role_in_a_row(self, said, now):
        parsed = [ingest.parse_record(spelled(*said), 1) for spelled in (native, hub, failed, own)]

        import_dialogues(dataset_name="Talks", dialogues=parsed, now=now)

        for row in Dialogue.objects.all():
            roles = [turn["role"] for turn in row.turns]
            assert all(one != other for one, other in itertools.pairwise(roles))


@pytest.mark.django_db
class TestESConv:
    def test_imports_every_dialogue_utterance_and_turn(self, now):
        path = shared_file("esconv/ESConv.json")

        report = import_dialogues(
            dataset_name="ESConv", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_added, report.n_utterances, report.n_turns, report.n_couplets) == (
            1300,
            38_365,
            30_392,
            14_642,
        )
        assert Dialogue.objects.count() == 1300
