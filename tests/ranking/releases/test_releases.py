"""Releases: what is in the files, and that they verify."""

import shutil
import warnings

import pytest
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.choices import RaterState
from annotation.models import Judgment, Rater, Study
from annotation.quality.services.excluding import exclude_rater
from annotation.rationales.services.scanning import scan_rationales
from annotation.studies.services.states import close_study
from completions.choices import SystemKind
from completions.models import Completion, Dataset, Dialogue, System
from ranking.fits import services as fit_services
from ranking.models import Fit, Release
from ranking.release_check.verifying import verify
from ranking.released.writing import files_of
from ranking.report import services as report_services
from tests.helpers.factories_written_once import make_imported_completion, make_user
from tests.helpers.released import START, build, change_document, forge_sums, put_under_hashes
from tests.ranking.releases.tampering import document, one_fit, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="module")
def built(key_to_release, place):
    """The first release of a study, and the study's key."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40, HEART_DATA_DIR=place / "kept"):
        study = Study.objects.get(pk=key_to_release)
        fit = study.fits.get(pool="COMBINED", context_set="ALL")
        for kind in ("AGREEMENT", "PAIRS", "DIMENSIONS", "BIAS"):
            report_services.analyse_fit(fit_id=fit.pk, kind=kind, clock=lambda: START)
        build(study, place / "built")
    return place / "built", study.pk


def build_another(built, folder, change, *, is_drawn=False):
    """Change the study, build its next release, and take all rows back."""
    quick = override_settings(HEART_BOOTSTRAP_REPLICATES=40, HEART_DATA_DIR=folder.parent / "kept")
    with quick, transaction.atomic():
        study = Study.objects.get(pk=built[1])
        change(study)
        study.refresh_from_db()
        build(study, folder, is_drawn=is_drawn)
        transaction.set_rollback(True)
    return folder


@pytest.fixture(scope="module")
def freed(built, place):
    """A release that may hold texts and rationales, with a text of a model from elsewhere."""

    def free(study):
        Dataset.objects.update(licence="CC BY 4.0", is_authored=False)
        QuerySet(Judgment).filter(rater__isnull=False).update(chips="heard warm")
        scan_rationales(study=study, clock=lambda: START)
        text = study.comparisons.filter(second__system__kind=SystemKind.MODEL)[0].second
        make_imported_completion(completion=text, source="run 7", model_version="ash-2026")

    return build_another(built, place / "freed", free)


@pytest.fixture(scope="module")
def withheld(built, place):
    """A release without the texts, after raters left and a message of a person was deleted."""

    def withhold(study):
        Dataset.objects.update(licence="CC BY-NC-ND 4.0", is_authored=False)
        excluded, withdrawn = study.raters.order_by("pk")[:2]
        exclude_rater(rater=excluded, reason="Bob from Utrecht.", by=make_user(), now=START)
        gone = {"state": RaterState.WITHDRAWN, "ended_at": timezone.now(), "data_kept": False}
        Rater.objects.filter(pk=withdrawn.pk).update(**gone)
        text = deleted_text(study)
        Completion.objects.filter(pk=text.pk).update(text="", erased_at=START)
        later = timezone.now()
        fit_services.refit_study(study=study, clock=lambda: later)

    return build_another(built, place / "withheld", withhold, is_drawn=True)


@pytest.fixture(scope="module")
def simulated(built, place):
    """A release of a study that is simulated."""

    def simulate(study):
        Study.objects.filter(pk=study.pk).update(is_simulated=True, title=r'A simulated \s "study"')
        Fit.objects.filter(study=study).update(is_simulated=True)
        Dialogue.objects.update(language="de")
        Dialogue.objects.filter(pk=Dialogue.objects.earliest("pk").pk).update(language="no")

    return build_another(built, place / "simulated", simulate)


@pytest.fixture(scope="module")
def closed(built, place):
    """A release of the study once it is closed."""

    def close(study):
        close_study(study=study, now=START)

    return build_another(built, place / "closed", close)


@pytest.fixture
def study(built):
    return Study.objects.get(pk=built[1])


@pytest.fixture
def first(built):
    """The first release, which is only read."""
    return built[0]


@pytest.fixture
def folder(first, tmp_path):
    """A copy of the first release, to be changed."""
    return shutil.copytree(first, tmp_path / "copy")


def draw_keys():
    return set(Rater.objects.values_list("draw_key", flat=True))


def deleted_text(study):
    """Return the message of a person that `withheld` deletes."""
    return study.comparisons.filter(first__system__kind=SystemKind.HUMAN).first().first


def bytes_of(folder):
    return {name: (folder / name).read_bytes() for name in files_of(folder)}


def everything(folder):
    """Return all files of a release as one text."""
    return b"".join(bytes_of(folder).values()).decode()


def readme(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


def described(folder):
    """Return the release as readers of its Croissant file see it."""
    import mlcroissant  # noqa: PLC0415 -- slow to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of rdflib, inside mlcroissant
        found = mlcroissant.Dataset(jsonld=folder / "croissant.json")
        assert not found.metadata.ctx.issues.errors
        sets = [one.id for one in found.metadata.record_sets]
        return {name: list(found.records(record_set=name)) for name in sets}


class TestWhatIsReleased:
    def test_it_verifies_with_ratings_people_and_agreement_computed_again(self, first):
        report = verify(first)

        fit = one_fit(first)
        assert report.problems == ()
        assert {f"ratings/{fit}.json", f"analyses/{fit}/agreement.json"} < set(report.recomputed)
        assert report.checksummed == (f"analyses/{fit}/bias.json",)
        assert report.n_numbers > 300

    def test_the_report_has_a_line_for_each_fit_and_all_names_in_json(self, first, folder):
        fit = one_fit(folder)
        change_document(folder, f"ratings/{fit}.json", lambda one: one.update(n_judgments=1))
        forge_sums(folder)

        sound, changed = verify(first, is_quick=True), verify(folder, is_quick=True)

        head, *fits, together = sound.as_text().splitlines()[:-1]
        assert head.split() == ["fit", "recomputed", "only", "checksummed", "differing"]
        assert [line.split()[0] for line in (*fits, together)][-1] == "all"
        assert {line.split()[-1] for line in (*fits, together)} == {"0"}
        assert max(map(len, sound.as_text().splitlines())) <= 100
        [line] = [one for one in changed.as_text().splitlines() if one.startswith(f"{fit} ")]
        assert line.split()[-1] == "1"
        assert sound.as_json()["recomputed"] == list(sound.recomputed)

    def test_below_the_minimum_it_holds_no_results_and_verifies(self, built, tmp_path):
        def want_more(study):
            minimum = {"results": {"judgments": 10**6}}
            Study.objects.filter(pk=study.pk).update(content=study.content | minimum)
            put_under_hashes(study)

        with CaptureQueriesContext(connection) as asked:
            folder = build_another(built, tmp_path / "small", want_more, is_drawn=True)

        of_ratings = [one["sql"] for one in asked if 'FROM "ranking_rating"' in one["sql"]]
        assert of_ratings == []
        told = document(folder, f"ratings/{one_fit(built[0])}.json")
        assert (told["state"], told["ratings"], told["people"]) == ("REFUSED", [], [])
        assert f"{told['n_judgments']} of 1000000 judgments" in told["refusal"]
        assert not any(name.startswith(("analyses/", "figures/")) for name in files_of(folder))
        assert verify(folder).problems == ()

    def test_people_go_by_ids_of_the_release_alone(self, study, first):
        codes = set(Rater.objects.values_list("code", flat=True))

        ids = {row["id"] for row in rows(first, "raters")}
        given = {row["rater"] for row in rows(first, "judgments") if row["rater"]}
        assert len(ids) == 4
        assert given == ids
        assert not any(secret in everything(first) for secret in (*codes, *draw_keys()))
        assert study.releases.get().secret not in everything(first)

    def test_no_writer_can_be_told_from_the_messages(self, first):
        names = {"id", "context", "system", "content_hash", "is_erased", "text"}
        names |= {"is_brought_in", "source", "model_version"}

        assert [row["kind"] for row in rows(first, "systems")].count("HUMAN") == 1
        assert all(set(row) == names for row in rows(first, "completions"))

    def test_of_judgments_days_are_told_and_neither_words_nor_attributes_not_cleared(self, first):
        judgments = rows(first, "judgments")

        assert {len(row["day"]) for row in judgments} == {len("2026-01-05")}
        assert {row["seconds"] for row in judgments if row["rater"]} == {40}
        assert {row["rationale"] for row in judgments} == {None}
        assert "which were not cleared" in readme(first)
        assert [row["attributes"] for row in rows(first, "raters")] == [{}] * 4
        assert "fewer than 5 share one" in readme(first)

    def test_what_was_read_and_may_be_shared_is_told_in_full(self, study, freed):
        text = study.comparisons.filter(second__system__kind=SystemKind.MODEL)[0].second

        by_people = [row for row in rows(freed, "judgments") if row["rater"]]
        assert {row["rationale"] for row in by_people} == {"It names the feeling."}
        assert all(row["chips"] == ["heard", "warm"] for row in by_people)
        assert all(row["turns"] for row in rows(freed, "contexts"))
        assert not (freed / "REBUILD.md").exists()
        (row,) = [one for one in rows(freed, "completions") if one["is_brought_in"]]
        assert (row["source"], row["model_version"]) == ("run 7", "ash-2026")
        assert row["text"] == text.text
        assert verify(freed).is_sound

    def test_it_verifies_though_the_licence_keeps_the_texts_and_people_left(self, withheld):
        assert {row["turns"] for row in rows(withheld, "contexts")} == {None}
        assert "manage.py contexts import" in (withheld / "REBUILD.md").read_text(encoding="utf-8")
        assert len(rows(withheld, "raters")) == 3
        assert "1 people who withdrew" in readme(withheld)
        assert verify(withheld).is_sound

    def test_exclusions_are_told_with_their_figures(self, withheld):
        (decision,) = rows(withheld, "exclusions")
        (out,) = [one for one in rows(withheld, "raters") if one["is_excluded"]]
        assert (decision["rater"], decision["is_by_a_person"]) == (out["id"], True)
        assert "Utrecht" not in everything(withheld)
        judged = [row for row in rows(withheld, "judgments") if row["rater"] == out["id"]]
        assert not any(row["counts"] for row in judged)

    def test_nothing_confirms_a_guess_at_a_deleted_message(self, study, withheld):
        text = deleted_text(study)
        known = dict(study.comparisons.values_list("key", "position"))
        pairs = study.comparisons.filter(Q(first=text) | Q(second=text))
        guessed = set(pairs.values_list("key", flat=True))

        found = {row["key"]: row["position"] for row in rows(withheld, "comparisons")}
        hidden = {key: place for key, place in found.items() if key not in known}
        assert len(hidden) == len(guessed) > 0
        assert set(hidden.values()) == {None}
        assert known == {key: known[key] for key in guessed} | {
            key: place for key, place in found.items() if key in known
        }
        assert not any(one in everything(withheld) for one in (*guessed, text.content_hash))

    def test_hubs_read_the_head_of_the_card(self, first, simulated):
        from huggingface_hub import DatasetCard  # noqa: PLC0415 -- slow to import

        card, other = (DatasetCard.load(one / "README.md").data for one in (first, simulated))

        assert card.license == "cc-by-4.0"
        assert (card.language, other.language) == (["en"], ["de", "no"])
        assert other.pretty_name.startswith(r"A simulated \s 'study', release ")
        configs = {one["config_name"]: one["data_files"] for one in card.configs}
        assert configs["judgments"] == "data/judgments.jsonl"

    def test_croissant_describes_tables_that_can_be_read(self, first, subtests):
        found = described(first)

        assert {"contexts", "judges", "judgments", "systems"} <= {*found}
        for name, records in found.items():
            with subtests.test(name):
                assert len(records) == len(rows(first, name))
        slugs = [row["slug"] for row in rows(first, "systems")]
        assert [one["systems/slug"].decode() for one in found["systems"]] == slugs

    def test_croissant_gives_each_value_inside_a_field(self, freed):
        found = described(freed)

        marks = [
            {key[-1]: n for key, n in one["judgments/marks"].items() if n is not None}
            for one in found["judgments"]
        ]
        assert marks == [row["marks"] or {} for row in rows(freed, "judgments")]
        said = [
            [(turn["contexts/turns/role"], turn["contexts/turns/text"]) for turn in one]
            for one in (context["contexts/turns"] for context in found["contexts"])
        ]
        assert said == [
            [(turn["role"].encode(), turn["text"].encode()) for turn in row["turns"]]
            for row in rows(freed, "contexts")
        ]

    def test_the_reader_of_hubs_reads_every_table(self, freed, tmp_path, monkeypatch, subtests):
        monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")  # before it is imported, as it reads it then
        monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        import datasets  # noqa: PLC0415 -- slow to import

        tables = {path.stem: rows(freed, path.stem) for path in (freed / "data").glob("*.jsonl")}
        filled = {name: written for name, written in tables.items() if written}
        assert {"contexts", "judges", "judgments", "systems"} <= {*filled}
        assert set(datasets.get_dataset_config_names(str(freed))) == {*filled}
        for name, written in filled.items():
            with subtests.test(name):
                found = datasets.load_dataset(str(freed), name, cache_dir=str(tmp_path))["train"]
                assert found.num_rows == len(written)
                assert set(found.column_names) == {key for row in written for key in row}
                for column in ("id", "key", "slug", "content_hash", "verdict"):
                    if column in found.column_names:
                        assert list(found[column]) == [row.get(column) for row in written]

    def test_simulated_studies_say_so_everywhere(self, simulated):
        for name in ("README.md", "croissant.json", "NOTICE"):
            assert "imulated" in (simulated / name).read_text(encoding="utf-8")
        assert document(simulated, "release.json")["is_simulated"] is True


class TestLatency:
    @pytest.fixture
    def fit(self, study):
        return study.fits.get(pool="COMBINED", context_set="ALL")

    @pytest.mark.parametrize("known", [{}, {"intelligence_index": {"value": 40}}])
    def test_whose_facts_changed_since_is_left_out_and_the_release_verifies(
        self, study, fit, known, tmp_path
    ):
        models = System.objects.filter(kind=SystemKind.MODEL)
        models.update(facts=known)
        report_services.analyse_fit(fit_id=fit.pk, kind="LATENCY", clock=lambda: START)
        models.update(facts={"intelligence_index": {"value": 47}})

        build(study, tmp_path / "release", is_drawn=False)

        assert verify(tmp_path / "release").problems == ()
        assert not any("latency" in name for name in files_of(tmp_path / "release"))
        assert "latency (1)" in readme(tmp_path / "release")

    def test_that_still_agrees_stays(self, study, fit, tmp_path):
        report_services.analyse_fit(fit_id=fit.pk, kind="LATENCY", clock=lambda: START)

        build(study, tmp_path / "release", is_drawn=False)

        assert f"analyses/{fit.key}/latency.json" in verify(tmp_path / "release").recomputed


class TestTheSeed:
    def test_stays_while_raters_may_come_and_the_release_says_so(self, study, first):
        assert study.seed not in everything(first)
        assert "The seed of the draws" in readme(first)

    def test_is_in_the_plan_of_a_closed_study_and_leads_to_no_rater(self, study, closed):
        assert document(closed, "study/plan.json")["seed"] == study.seed
        assert verify(closed, is_quick=True).is_sound
        assert "The seed of the draws" not in readme(closed)
        assert not any(key in everything(closed) for key in draw_keys())

    def test_that_is_another_than_the_protocol_names_is_told(self, closed, tmp_path):
        folder = shutil.copytree(closed, tmp_path / "forged")
        change_document(folder, "study/plan.json", lambda plan: plan.update(seed="another"))
        forge_sums(folder)

        (problem,) = verify(folder, is_quick=True).problems

        assert problem.startswith("study/plan.json: the seed is not the one")


class TestTheSameBytes:
    def test_the_same_state_gives_the_same_bytes_and_the_same_row(self, study, first, tmp_path):
        release = build(study, tmp_path / "again")

        assert bytes_of(first) == bytes_of(tmp_path / "again")
        assert Release.objects.get() == release

    def test_another_state_is_another_release_with_other_ids(self, first, withheld):
        ids = [{row["id"] for row in rows(one, "raters")} for one in (first, withheld)]
        versions = [document(one, "release.json")["version"] for one in (first, withheld)]

        assert not ids[0] & ids[1]
        assert versions == [1, 2]
