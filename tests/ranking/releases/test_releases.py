"""Releases: what is in the files, that they verify, and that what is changed in them is named."""

import io
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Q, QuerySet
from django.test import override_settings
from django.utils import timezone

from annotation.choices import Purpose, RaterState, TextOutcome
from annotation.models import Comparison, Judgment, QualityCheck, Rater, Study
from annotation.quality.services.excluding import exclude_rater
from annotation.raters.services import withdraw_rater, withdraw_writer
from annotation.rationales.services.scanning import (
    TextWords,
    decide_rationale,
    scan_rationales,
)
from annotation.studies.services.studies import close_study
from completions.choices import SystemKind
from completions.models import Completion, Dataset, Dialogue, System
from ranking.choices import ReleaseState
from ranking.fits import services as fit_services
from ranking.models import Fit, Release
from ranking.release_check import verify
from ranking.release_check.bundle import Bundle
from ranking.release_check.files import problems_of_files, problems_of_hashes
from ranking.released.writing import SUMS, files_of, lines
from ranking.releases import queries
from ranking.releases import services as release_services
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, make_comparison, make_quality_check
from tests.helpers.factories_written_once import make_imported_completion, make_user
from tests.helpers.released import (
    START,
    build,
    change_document,
    change_row,
    forge_sums,
    make_study_to_release,
)

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _quick(settings, tmp_path):
    settings.HEART_BOOTSTRAP_REPLICATES = 40
    settings.HEART_DATA_DIR = tmp_path / "kept"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="module")
def built(module_rows, place):
    """The first release of a study, and the study's key."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40, HEART_DATA_DIR=place / "kept"):
        study = make_study_to_release()
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
        take_answers_back(withdrawn)
        text = deleted_text(study)
        Completion.objects.filter(pk=text.pk).update(text="", erased_at=START)
        later = timezone.now()
        fit_services.refit_study(study=study, clock=lambda: later)

    return build_another(built, place / "withheld", withhold, is_drawn=True)


@pytest.fixture(scope="module")
def simulated(built, place):
    """A release of a study that is simulated."""

    def simulate(study):
        Study.objects.filter(pk=study.pk).update(is_simulated=True, title="A simulated study")
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
def folder(built, tmp_path):
    """A copy of the first release."""
    return shutil.copytree(built[0], tmp_path / "copy")


def rows(folder, name):
    text = (folder / f"data/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def draw_keys():
    return set(Rater.objects.values_list("draw_key", flat=True))


def take_answers_back(rater):
    """Let the rater be one who withdrew and had the answers deleted."""
    ended = {"state": RaterState.WITHDRAWN, "ended_at": timezone.now(), "data_kept": False}
    Rater.objects.filter(pk=rater.pk).update(**ended)


def one_fit(folder):
    about = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    return next(fit["fit"] for fit in about["fits"] if fit["analyses"])


def deleted_text(study):
    """Return the message of a person that `withheld` deletes."""
    return study.comparisons.filter(first__system__kind=SystemKind.HUMAN).first().first


def people(folder):
    return {row["slug"] for row in rows(folder, "systems") if row["kind"] == "HUMAN"}


def bytes_of(folder):
    return {name: (folder / name).read_bytes() for name in files_of(folder)}


class TestWhatIsReleased:
    def test_it_verifies_with_ratings_people_and_agreement_computed_again(self, folder):
        report = verify(folder)

        fit = one_fit(folder)
        assert report.problems == ()
        assert {f"ratings/{fit}.json", f"analyses/{fit}/agreement.json"} < set(report.recomputed)
        assert report.checksummed == (f"analyses/{fit}/bias.json",)
        assert report.n_numbers > 300

    def test_the_report_has_a_line_for_each_fit_and_all_names_in_json(self, folder, tmp_path):
        copy = shutil.copytree(folder, tmp_path / "changed")
        fit = one_fit(folder)
        change_document(copy, f"ratings/{fit}.json", lambda one: one.update(n_judgments=1))
        forge_sums(copy)

        sound, changed = verify(folder, is_quick=True), verify(copy, is_quick=True)

        head, *fits, together = sound.as_text().splitlines()[:-1]
        assert head.split() == ["fit", "recomputed", "only", "checksummed", "differing"]
        assert [line.split()[0] for line in (*fits, together)][-1] == "all"
        assert {line.split()[-1] for line in (*fits, together)} == {"0"}
        assert max(map(len, sound.as_text().splitlines())) <= 100
        [line] = [one for one in changed.as_text().splitlines() if one.startswith(f"{fit} ")]
        assert line.split()[-1] == "1"
        assert sound.as_json()["recomputed"] == list(sound.recomputed)

    def test_people_go_by_ids_of_the_release_alone(self, study, folder):
        codes = set(Rater.objects.values_list("code", flat=True))

        ids = {row["id"] for row in rows(folder, "raters")}
        given = {row["rater"] for row in rows(folder, "judgments") if row["rater"]}
        everything = b"".join(bytes_of(folder).values()).decode()
        assert len(ids) == 4
        assert given == ids
        assert not any(code in everything for code in codes)
        assert study.releases.get().secret not in everything

    def test_no_writer_can_be_told_from_the_messages(self, folder):
        names = {"id", "context", "system", "content_hash", "is_erased", "text"}
        names |= {"is_brought_in", "source", "model_version"}

        of_people = [one["slug"] for one in rows(folder, "systems") if one["kind"] == "HUMAN"]
        assert len(of_people) == 1
        assert all(set(row) == names for row in rows(folder, "completions"))

    def test_messages_that_models_gave_elsewhere_say_so(self, study, freed):
        text = study.comparisons.filter(second__system__kind=SystemKind.MODEL)[0].second

        (row,) = [one for one in rows(freed, "completions") if one["is_brought_in"]]
        assert (row["source"], row["model_version"]) == ("run 7", "ash-2026")
        assert row["text"] == text.text
        assert verify(freed).is_sound

    def test_times_are_days_and_rationales_wait_until_they_are_cleared(self, folder):
        judgments = rows(folder, "judgments")

        assert {len(row["day"]) for row in judgments} == {len("2026-01-05")}
        assert {row["seconds"] for row in judgments if row["rater"]} == {40}
        assert {row["rationale"] for row in judgments} == {None}
        assert "which were not cleared" in (folder / "README.md").read_text(encoding="utf-8")

    def test_rationales_are_released_once_they_were_read(self, freed):
        by_people = [row for row in rows(freed, "judgments") if row["rater"]]
        assert {row["rationale"] for row in by_people} == {"It names the feeling."}
        assert all(row["chips"] == ["heard", "warm"] for row in by_people)

    def test_what_too_few_raters_share_is_not_told(self, folder):
        assert {str(row["attributes"]) for row in rows(folder, "raters")} == {"{}"}
        assert "fewer than 5 share one" in (folder / "README.md").read_text(encoding="utf-8")

    def test_text_stays_where_the_licence_keeps_it(self, withheld):
        assert {row["turns"] for row in rows(withheld, "contexts")} == {None}
        assert "manage.py contexts import" in (withheld / "REBUILD.md").read_text(encoding="utf-8")

    def test_a_licence_that_lets_text_be_shared_has_it_released(self, freed):
        assert all(row["turns"] for row in rows(freed, "contexts"))
        assert not (freed / "REBUILD.md").exists()

    def test_exclusions_are_told_with_their_figures(self, withheld):
        (decision,) = rows(withheld, "exclusions")
        (out,) = [one for one in rows(withheld, "raters") if one["is_excluded"]]
        assert (decision["rater"], decision["is_by_a_person"]) == (out["id"], True)
        assert "Utrecht" not in b"".join(bytes_of(withheld).values()).decode()
        judged = [row for row in rows(withheld, "judgments") if row["rater"] == out["id"]]
        assert not any(row["counts"] for row in judged)

    def test_who_withdrew_with_their_answers_is_in_no_later_release(self, withheld):
        assert len(rows(withheld, "raters")) == 3
        assert "1 people who withdrew" in (withheld / "README.md").read_text("utf-8")

    def test_nothing_confirms_a_guess_at_a_deleted_message(self, study, withheld):
        text = deleted_text(study)
        known = dict(study.comparisons.values_list("key", "position"))
        pairs = study.comparisons.filter(Q(first=text) | Q(second=text))
        guessed = set(pairs.values_list("key", flat=True))
        everything = b"".join(bytes_of(withheld).values()).decode()

        found = {row["key"]: row["position"] for row in rows(withheld, "comparisons")}
        hidden = {key: place for key, place in found.items() if key not in known}
        assert len(hidden) == len(guessed) > 0
        assert set(hidden.values()) == {None}
        assert known == {key: known[key] for key in guessed} | {
            key: place for key, place in found.items() if key in known
        }
        assert not any(one in everything for one in (*guessed, text.content_hash))

    def test_it_verifies_without_texts_and_after_people_left(self, withheld):
        assert verify(withheld).is_sound

    def test_hubs_read_the_head_of_the_card(self, folder):
        from huggingface_hub import DatasetCard  # noqa: PLC0415 -- slow to import

        card = DatasetCard.load(folder / "README.md")

        assert card.data.license == "cc-by-4.0"
        assert card.data.language == ["en"]
        configs = {one["config_name"]: one["data_files"] for one in card.data.configs}
        assert configs["judgments"] == "data/judgments.jsonl"

    def test_the_card_names_the_languages_of_the_dialogues(self, simulated):
        from huggingface_hub import DatasetCard  # noqa: PLC0415 -- slow to import

        card = DatasetCard.load(simulated / "README.md")

        assert card.data.language == ["de", "no"]

    def test_croissant_describes_tables_that_can_be_read(self, folder, subtests):
        import mlcroissant  # noqa: PLC0415 -- slow to import

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of rdflib, inside mlcroissant
            described = mlcroissant.Dataset(jsonld=folder / "croissant.json")
            sets = [one.id for one in described.metadata.record_sets]
            found = {name: list(described.records(record_set=name)) for name in sets}

        assert not described.metadata.ctx.issues.errors
        assert {"contexts", "judges", "judgments", "systems"} <= {*found}
        for name, records in found.items():
            with subtests.test(name):
                assert len(records) == len(rows(folder, name))
        slugs = [row["slug"] for row in rows(folder, "systems")]
        assert [one["systems/slug"].decode() for one in found["systems"]] == slugs

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

    def test_croissant_gives_each_value_inside_a_field(self, freed):
        import mlcroissant  # noqa: PLC0415 -- slow to import

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            described = mlcroissant.Dataset(jsonld=freed / "croissant.json")
            judgments = list(described.records(record_set="judgments"))
            contexts = list(described.records(record_set="contexts"))

        marks = [
            {key[-1]: n for key, n in one["judgments/marks"].items() if n is not None}
            for one in judgments
        ]
        assert marks == [row["marks"] or {} for row in rows(freed, "judgments")]
        said = [
            [(turn["contexts/turns/role"], turn["contexts/turns/text"]) for turn in one]
            for one in (context["contexts/turns"] for context in contexts)
        ]
        assert said == [
            [(turn["role"].encode(), turn["text"].encode()) for turn in row["turns"]]
            for row in rows(freed, "contexts")
        ]

    def test_simulated_studies_say_so_everywhere(self, simulated):
        for name in ("README.md", "croissant.json", "NOTICE"):
            assert "imulated" in (simulated / name).read_text(encoding="utf-8")
        about = json.loads((simulated / "release.json").read_text(encoding="utf-8"))
        assert about["is_simulated"] is True


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

        build(study, tmp_path / "release")

        report = verify(tmp_path / "release")
        assert report.problems == ()
        assert not any("latency" in name for name in bytes_of(tmp_path / "release"))
        assert "latency (1)" in (tmp_path / "release/README.md").read_text(encoding="utf-8")

    def test_that_still_agrees_stays(self, study, fit, tmp_path):
        report_services.analyse_fit(fit_id=fit.pk, kind="LATENCY", clock=lambda: START)

        build(study, tmp_path / "release", is_drawn=False)

        assert f"analyses/{fit.key}/latency.json" in verify(tmp_path / "release").recomputed


class TestTheSeed:
    def test_stays_while_raters_may_come_and_the_release_says_so(self, study, folder):
        everything = b"".join(bytes_of(folder).values()).decode()

        assert study.seed not in everything
        assert not any(key in everything for key in draw_keys())
        assert "The seed of the draws" in (folder / "README.md").read_text(encoding="utf-8")

    def test_is_in_the_plan_of_a_closed_study(self, study, closed):
        plan = json.loads((closed / "study/plan.json").read_text(encoding="utf-8"))

        assert plan["seed"] == study.seed
        assert verify(closed, is_quick=True).is_sound
        assert "The seed of the draws" not in (closed / "README.md").read_text(encoding="utf-8")

    def test_leads_to_no_rater(self, closed):
        everything = b"".join(bytes_of(closed).values()).decode()

        assert not any(key in everything for key in draw_keys())

    def test_that_is_another_than_the_protocol_names_is_told(self, closed, tmp_path):
        folder = shutil.copytree(closed, tmp_path / "forged")
        change_document(folder, "study/plan.json", lambda plan: plan.update(seed="another"))
        forge_sums(folder)

        (problem,) = verify(folder, is_quick=True).problems

        assert problem.startswith("study/plan.json: the seed is not the one")


def reason_of(study):
    return Judgment.objects.filter(comparison__study=study, rater__isnull=False).first()


def mask(judgment, *also):
    words = TextWords(TextOutcome.MASKED, also=also)
    study = judgment.comparison.study
    decide_rationale(study=study, judgment=judgment.pk, words=words, by=make_user(), now=START)


def mask_more(study):
    mask(reason_of(study), "Unit 7")


def change_a_system(study, **fields):
    slug = study.comparisons.first().first.system.slug
    System.objects.filter(slug=slug).update(**fields)


def rename_a_system(study):
    change_a_system(study, name="Another name")


def learn_a_fact(study):
    change_a_system(study, facts={"intelligence_index": {"value": 47, "source": "x"}})


def rest_a_check(study):
    QualityCheck.objects.filter(comparison__study=study).update(is_active=False)


class TestTheSameBytes:
    def test_the_same_state_gives_the_same_bytes_and_the_same_row(self, study, folder, tmp_path):
        release = build(study, tmp_path / "again")

        assert bytes_of(folder) == bytes_of(tmp_path / "again")
        assert Release.objects.get() == release

    def test_another_state_is_another_release_with_other_ids(self, folder, withheld):
        ids = [{row["id"] for row in rows(one, "raters")} for one in (folder, withheld)]
        abouts = [json.loads((one / "release.json").read_bytes()) for one in (folder, withheld)]

        assert not ids[0] & ids[1]
        assert [one["version"] for one in abouts] == [1, 2]

    @pytest.mark.parametrize("change", [mask_more, rename_a_system, learn_a_fact, rest_a_check])
    def test_a_change_of_what_leaves_is_another_state(self, study, change):
        said = "Ann of Unit 7 wrote to bob@example.com."
        QuerySet(Judgment).filter(pk=reason_of(study).pk).update(rationale=said)
        scan_rationales(study=study, clock=lambda: START)
        mask(reason_of(study))
        make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK))
        first = release_services.claim_release(study=study, now=START)
        ended = {"state": ReleaseState.REFUSED, "refusal": "No room.", "ended_at": START}
        Release.objects.filter(pk=first.pk).update(**ended)

        change(study)

        assert release_services.claim_release(study=study, now=START).key != first.key

    def test_nothing_is_left_of_a_building_that_is_stopped(self, study, tmp_path):
        release = release_services.claim_release(study=study, now=START)

        def stop(step):
            if step == "documents":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            release_services.build_release(
                release=release, folder=tmp_path / "out" / "x", clock=lambda: START, tell=stop
            )
        assert list((tmp_path / "out").iterdir()) == []

    def test_a_folder_that_is_not_empty_is_left_alone(self, study, tmp_path):
        (tmp_path / "mine").write_text("mine")

        with pytest.raises(CommandError, match="not empty"):
            call_command("release", "build", "--study", study.slug, "--out", str(tmp_path))
        assert (tmp_path / "mine").read_text() == "mine"

    def test_a_pseudonym_that_would_leave_stops_it(self, study, tmp_path):
        code = study.raters.order_by("pk").first().code
        type(study).objects.filter(pk=study.pk).update(title=f"About {code}")

        with pytest.raises(release_services.ReleaseRefusedError, match="pseudonym"):
            build(study, tmp_path / "release", is_drawn=False)
        assert not (tmp_path / "release").exists()

    @pytest.mark.parametrize("before", ["\n", "\t", '"', "\\", "\x01"])
    def test_no_escape_hides_a_pseudonym(self, study, tmp_path, before):
        code = study.raters.order_by("pk").first().code
        System.objects.filter(kind=SystemKind.MODEL).update(family=f"My code is{before}{code}")

        with pytest.raises(release_services.ReleaseRefusedError, match=r"systems\.jsonl holds"):
            build(study, tmp_path / "release", is_drawn=False)


def delete_texts(study, *, now):
    text = Completion.objects.filter(context__dataset=study.dataset, writer__isnull=False).first()
    withdraw_writer(writer=text.writer, keep_texts=False, now=now)


def delete_answers(study, *, now):
    Comparison.objects.filter(study=study).update(shown_first_as_a=50, shown_first_as_b=50)
    withdraw_rater(rater=study.raters.first(), now=now)


@pytest.mark.parametrize("delete", [delete_texts, delete_answers])
class TestWhatWasDeleted:
    def test_is_in_no_release_of_ratings_before(self, study, delete):
        delete(study, now=START + HOUR)

        with pytest.raises(release_services.ReleaseRefusedError, match="Refit"):
            release_services.claim_release(study=study, now=START + HOUR)

    def test_is_in_no_release_of_an_earlier_fit_that_is_named(self, study, delete):
        fit = study.fits.get(pool="COMBINED", context_set="ALL")
        delete(study, now=START + HOUR)
        fit_services.refit_study(study=study, clock=lambda: START + 2 * HOUR)

        fits, obstacle = queries.fits_to_release(study)
        assert (len(fits) > 0, obstacle) == (True, "")
        assert queries.fits_to_release(study, only=fit) == ([], queries.BEHIND)


def change_verdict(folder):
    verdict = rows(folder, "judgments")[0]["verdict"]
    change_row(folder, "judgments", verdict=-verdict)


def change_rating(folder):
    def raise_first(content):
        content["ratings"][0]["elo"] += 0.001

    change_document(folder, f"ratings/{one_fit(folder)}.json", raise_first)


def change_agreement(folder):
    def raise_first(content):
        table = content["findings"]["tables"][0]
        row = table["rows"][0]
        place = next(n for n, cell in enumerate(row) if isinstance(cell, float))
        row[place] += 0.0001

    change_document(folder, f"analyses/{one_fit(folder)}/agreement.json", raise_first)


def change_checksum(folder):
    text = (folder / SUMS).read_text(encoding="utf-8")
    (folder / SUMS).write_text(("1" if text[0] == "0" else "0") + text[1:], encoding="utf-8")


def change_rubric(folder):
    def reword(content):
        content["dimensions"][0]["asks"] += " Perhaps?"

    change_document(folder, "study/rubric.json", reword)


def change_message(folder):
    change_row(folder, "completions", text="Another message.")


def hide_message(folder):
    """Take a message away, so that its style cannot be measured."""
    change_row(folder, "completions", text=None)


def claim_texts(folder):
    """Say that the texts of contexts are there although they are not."""
    change_document(folder, "release.json", lambda one: one["dataset"].update(has_text=True))


def relabel(**labels):
    """Return what says of an analysis that it is another one, which nobody computes again."""

    def change(folder):
        name = f"analyses/{one_fit(folder)}/agreement.json"
        change_document(folder, name, lambda content: content.update(labels))

    return change


def simulate(table):
    """Return what says of the first row of a table that it is simulated."""
    return lambda folder: change_row(folder, table, is_simulated=True)


def simulate_plan(folder):
    change_document(folder, "study/plan.json", lambda plan: plan.update(is_simulated=True))


def delete_file(folder):
    (folder / "data/exclusions.jsonl").unlink()


def add_file(folder):
    (folder / "data/extra.jsonl").write_text("{}\n")


def delete_figure(folder):
    (folder / f"figures/{one_fit(folder)}/ratings.svg").unlink()


def delete_analysis(folder):
    (folder / f"analyses/{one_fit(folder)}/agreement.json").unlink()


def nest_analysis(folder):
    (folder / f"analyses/{one_fit(folder)}/agreement.json").write_text("[" * 50_000)


def delete_licence(folder):
    (folder / "LICENSE").unlink()


def add_fit(folder):
    shutil.copy(folder / f"ratings/{one_fit(folder)}.json", folder / "ratings/fit-0.json")


def exclude_who_counts(folder):
    """Say of a rater whose judgments count that they are left out."""
    change_row(folder, "raters", is_excluded=True)


def swap_side(folder):
    side = rows(folder, "judgments")[0]["side_of_first"]
    change_row(folder, "judgments", side_of_first={"A": "B", "B": "A"}[side])


NAMED = {
    "a judgment": (change_verdict, "data/judgments.jsonl"),
    "a rating": (change_rating, ".json: ratings["),
    "an agreement figure": (change_agreement, "agreement.json: findings.tables"),
    "a checksum": (change_checksum, "its checksum is not the one"),
    "a word of the rubric": (change_rubric, "study/rubric.json"),
    "a message": (change_message, "data/completions.jsonl"),
    "a deleted file": (delete_file, "data/exclusions.jsonl"),
    "an added file": (add_file, "data/extra.jsonl"),
    "a side": (swap_side, "data/judgments.jsonl"),
}
STAND_IN = ".json: is_simulated is False, and what was judged"
FORGED = {
    "a judgment": (change_verdict, "ratings/"),
    "a rating": (change_rating, ".elo: is "),
    "an agreement figure": (change_agreement, "agreement.json: findings.tables"),
    "a word of the rubric": (change_rubric, "is not the one of rubric_hash"),
    "a message": (change_message, "the text is not the one of its content_hash"),
    "a deleted file": (delete_file, "data/exclusions.jsonl: cannot be read"),
    "a deleted analysis": (delete_analysis, "agreement.json: cannot be read"),
    "a nested analysis": (nest_analysis, "agreement.json: cannot be read"),
    "a deleted figure": (delete_figure, "ratings.svg: is not in the folder"),
    "a deleted licence": (delete_licence, "LICENSE: is not in the folder"),
    "an added file": (add_file, "data/extra.jsonl: release.json tells of no such file"),
    "an added fit": (add_fit, "ratings/fit-0.json: release.json tells of no such file"),
    "an exclusion": (exclude_who_counts, "counts, and must not"),
    "a hidden message": (hide_message, "the text is null"),
    "hidden turns": (claim_texts, "the turns are null"),
    "another kind": (relabel(kind="LIKERT"), "agreement.json: kind is 'LIKERT'"),
    "another fit": (relabel(fit="fit-0"), "agreement.json: fit is 'fit-0'"),
    "an analysis of stand-ins": (relabel(is_simulated=True), "agreement.json: is_simulated is"),
    "a simulated system": (simulate("systems"), STAND_IN),
    "a simulated context": (simulate("contexts"), STAND_IN),
    "a simulated judge": (simulate("judges"), STAND_IN),
    "a simulated rater": (simulate("raters"), STAND_IN),
    "a simulated rater of a real study": (simulate("raters"), "counts, and must not"),
    "a simulated study": (simulate_plan, "release.json: is_simulated is False"),
}


class TestTampering:
    @pytest.mark.parametrize(("change", "name"), NAMED.values(), ids=NAMED)
    def test_whatever_is_changed_is_named(self, folder, change, name):
        change(folder)

        report = verify(folder, is_quick=True)

        assert not report.is_sound
        assert any(name in problem for problem in report.problems), report.problems

    @pytest.mark.parametrize(("change", "name"), FORGED.values(), ids=FORGED)
    def test_a_forger_who_mends_the_checksums_is_found_by_the_numbers(self, folder, change, name):
        change(folder)
        forge_sums(folder)

        report = verify(folder, is_quick=True)

        assert any(name in problem for problem in report.problems), report.problems

    def test_an_analysis_is_computed_as_its_name_says(self, folder):
        relabel(kind="LIKERT")(folder)
        change_agreement(folder)
        forge_sums(folder)

        report = verify(folder, is_quick=True)

        assert any("agreement.json: findings.tables" in one for one in report.problems)

    def test_a_reply_of_the_source_is_null_where_the_licence_keeps_it(self, folder):
        path = folder / "data/systems.jsonl"
        path.write_text(path.read_text().replace('"kind":"MODEL"', '"kind":"ORIGINAL"'))
        texts = [
            row | {"text": row["text"] if row["system"] in people(folder) else None}
            for row in rows(folder, "completions")
        ]
        (folder / "data/completions.jsonl").write_text("".join(lines(texts)))

        assert list(problems_of_hashes(Bundle.read(folder))) == []

    def test_any_changed_byte_is_named(self, folder):
        for name in files_of(folder):
            if name == SUMS:
                continue
            kept = (folder / name).read_bytes()
            (folder / name).write_bytes(bytes([kept[0] ^ 1]) + kept[1:] if kept else b"x")
            assert [one.partition(":")[0] for one in problems_of_files(folder)] == [name]
            (folder / name).write_bytes(kept)

    def test_the_command_ends_with_1_and_says_what_differs(self, folder):
        change_rating(folder)
        out = io.StringIO()

        with pytest.raises(CommandError) as refused:
            call_command("release", "verify", str(folder), stdout=out)

        assert refused.value.returncode == 1
        assert "its checksum is not the one" in out.getvalue()


BARE = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}


class TestAnotherMachine:
    def test_it_verifies_without_settings_database_or_network(self, folder, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        shutil.copytree(folder, elsewhere)

        done = subprocess.run(
            [sys.executable, "-m", "ranking.release_check", str(elsewhere)],
            cwd=ROOT,
            env=BARE | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stdout + done.stderr
        assert "numbers computed again are the same" in done.stdout

    def test_the_command_asks_no_database(self, folder, django_assert_num_queries):
        with django_assert_num_queries(0):
            call_command("release", "verify", str(folder), stdout=io.StringIO())
