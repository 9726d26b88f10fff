"""The lists of the API: what they say, to whom, in which order, at which cost."""

import base64

import pytest
from django.test import Client

from access.api.paging import MOST
from access.choices import Scope
from annotation.models import Judgment, Rater, Study
from completions.models import Context, System
from ranking.choices import EvaluatorPool
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_quality_check,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_exclusion, make_fit
from tests.helpers.judged import delete_text, fit_one, make_judged_study

pytestmark = pytest.mark.django_db
LISTS = {
    "contexts/": Scope.READ_TEXTS,
    "completions/": Scope.READ_TEXTS,
    "systems/": Scope.READ_STUDIES,
    "studies/": Scope.READ_STUDIES,
    "studies/{study}/comparisons/": Scope.READ_JUDGMENTS,
    "studies/{study}/judgments/": Scope.READ_JUDGMENTS,
    "studies/{study}/fits/": Scope.READ_STUDIES,
}
ODD = ["\x00", "9" * 40, "-1", "\u0001\ud7ff", "'; --", "0001-01-01T00:00:00+14:00", "x" * 5000]


@pytest.fixture(scope="module")
def kept(module_rows) -> int:
    systems = [make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")]
    study = make_judged_study(systems=systems, with_llm=True, n_dialogues=2)
    make_fit(study=study)
    return study.pk


@pytest.fixture
def study(kept) -> Study:
    return Study.objects.get(pk=kept)


def read(path, study=None, secret="", **query):
    address = "/api/v1/" + path.format(study=study.slug if study else "")
    return Client().get(address, query, headers=bearing(secret) if secret else {})


def all_of(path, study, **query):
    answer = read(path, study, secret=make_secret(*Scope), **query)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


class TestAccess:
    @pytest.mark.parametrize(("path", "scope"), LISTS.items())
    def test_a_token_needs_the_one_scope(self, path, scope, study):
        others = [one for one in Scope if one != scope]
        collecting = make_secret(Scope.WRITE_JUDGMENTS, study=study.slug)

        assert read(path, study, secret=make_secret(scope)).status_code == 200
        assert read(path, study, secret=make_secret(*others)).status_code == 403
        assert read(path, study, secret=collecting).status_code == 403

    def test_strangers_see_the_studies_that_were_opened(self, study):
        make_study(slug="draft", state="DRAFT", locked_at=None, protocol_hash="")

        seen = [one["slug"] for one in read("studies/").json()["results"]]

        assert (study.slug in seen, "draft" in seen) == (True, False)
        assert {one["slug"] for one in all_of("studies/", None)} == {study.slug, "draft"}
        assert read("studies/draft/").status_code == 404


class TestWhatIsSaid:
    def test_judgments_name_raters_by_pseudonym(self, study):
        Rater.objects.update(platform="PROLIFIC", external_id="5f1e-secret", bound_by="s3ss")
        said = all_of("studies/{study}/judgments/", study)

        assert len(said) == Judgment.objects.count()
        assert {one["rater"] for one in said} - {None} == set(
            Rater.objects.filter(judgments__isnull=False).values_list("code", flat=True)
        )
        assert "5f1e-secret" not in str(said)
        assert "s3ss" not in str(said)

    def test_a_judgment_has_its_verdict_marks_and_systems(self, study):
        judgment = Judgment.objects.filter(rater__isnull=False).first()

        said = all_of("studies/{study}/judgments/", study)[0]

        assert said["id"] == judgment.pk
        assert said["verdict"] == judgment.verdict
        assert said["marks"] == {m.dimension: m.advantage for m in judgment.marks.all()}
        assert {said["first_system"], said["second_system"]} == {"ash", "beech"}
        assert said["counts"] is True

    def test_those_of_an_excluded_rater_do_not_count(self, study):
        make_exclusion(rater=Rater.objects.filter(judgments__isnull=False).first())

        counted = all_of("studies/{study}/judgments/", study, counts="true")
        others = all_of("studies/{study}/judgments/", study, counts="false")

        assert others
        assert all(one["rater"] for one in others)
        assert not any(one["counts"] for one in others)
        assert all(one["counts"] for one in counted)
        assert len(counted) + len(others) == Judgment.objects.count()

    @pytest.mark.parametrize(
        "path",
        [
            *("completions/", "studies/{study}/comparisons/", "studies/{study}/judgments/"),
            *("/console/{study}/comparisons.csv", "/console/{study}/judgments.csv"),
            *("/console/{study}/comparisons/", "/console/{study}/checks/"),
        ],
    )
    def test_nothing_confirms_a_guess_at_a_deleted_text(self, path, study, client, owner):
        pair = study.comparisons.order_by("pk").first()
        make_quality_check(comparison=pair)
        delete_text(pair.first_id)
        address = ("" if path[0] == "/" else "/api/v1/") + path.format(study=study.slug)
        client.force_login(owner)

        said = b"".join(client.get(address)).decode()

        assert pair.key not in said
        assert pair.first.content_hash not in said
        assert (f"deleted-{pair.pk}" in said) is (path != "completions/")

    def test_a_pair_with_a_deleted_text_is_found_by_its_public_name_alone(self, study):
        pair = study.comparisons.order_by("pk").first()
        path, name = "studies/{study}/judgments/", f"deleted-{pair.pk}"
        judged = all_of(path, study, comparison=pair.key)
        delete_text(pair.first_id)

        found = all_of(path, study, comparison=name)

        assert [one["id"] for one in found] == [one["id"] for one in judged] != []
        assert {one["comparison"] for one in found} == {name}
        for other in (pair.key, f"deleted-{pair.pk + 1}", "deleted-", "deleted-" + "9" * 40):
            assert all_of(path, study, comparison=other) == []

    def test_systems_keep_how_they_are_reached_to_themselves(self, study):
        System.objects.update(api_base="http://inside.example", parameters={"api_key_env": "KEY"})

        said = str(all_of("systems/", study))

        assert "inside.example" not in said
        assert "KEY" not in said

    def test_dialogues_of_checks_are_not_listed(self, study):
        listed = [all_of(path, study) for path in ("contexts/", "completions/")]
        checks = make_dataset(is_for_checks=True)
        make_completion(context=make_context(dialogue=make_dialogue(dataset=checks)))

        assert all(listed)
        assert [all_of(path, study) for path in ("contexts/", "completions/")] == listed

    def test_one_of_each(self, study):
        context, system = Context.objects.first(), System.objects.first()
        secret = make_secret(*Scope)

        assert read(f"contexts/{context.key}/", secret=secret).json()["turns"] == context.turns
        assert read(f"systems/{system.slug}/", secret=secret).json()["name"] == system.name
        assert read(f"studies/{study.slug}/").json()["title"] == study.title
        assert read("contexts/none/", secret=secret).status_code == 404

    def test_fits_are_the_addresses_of_their_ratings(self, study):
        fit_one(study, NOW + HOUR, EvaluatorPool.LLM)
        fits = all_of("studies/{study}/fits/", study, pool="LLM", state="DONE")

        assert fits
        for fit in fits:
            address = f"studies/{study.slug}/fits/{fit['fit']}/"
            assert read(address, secret=make_secret(*Scope)).status_code == 200


class TestFilters:
    @pytest.mark.parametrize(
        ("path", "query"),
        [
            ("completions/", {"system": "ash"}),
            ("studies/{study}/judgments/", {"evaluator": "judge"}),
            ("studies/{study}/judgments/", {"evaluator": "rater"}),
            ("contexts/", {"stratum": "REGULAR"}),
            ("systems/", {"family": "none"}),
            ("studies/", {"state": "OPEN"}),
            ("studies/{study}/comparisons/", {"system": "ash"}),
            ("studies/{study}/fits/", {"pool": "LLM"}),
        ],
    )
    def test_keep_what_they_name(self, path, query, study):
        make_completion()
        kept, every = all_of(path, study, **query), all_of(path, study)

        assert len(kept) <= len(every)
        (name, value), *_ = query.items()
        for row in kept:
            if name in row:
                assert row[name] == value
            elif name == "evaluator":
                assert row[value] is not None
            else:
                assert value in {row["first_system"], row["second_system"]}

    def test_by_time_and_by_who(self, study):
        first = Judgment.objects.order_by("submitted_at").first()
        path = "studies/{study}/judgments/"
        at = first.submitted_at.isoformat()

        assert all_of(path, study, until=at) == []
        assert len(all_of(path, study, since=at)) == Judgment.objects.count()
        code = Rater.objects.filter(judgments__isnull=False).first().code
        assert {one["rater"] for one in all_of(path, study, rater=code)} == {code}
        assert all_of(path, study, is_simulated="true") == []

    @pytest.mark.parametrize(
        "name", ["rater", "system", "since", "until", "counts", "cursor", "limit", "context"]
    )
    def test_odd_input_is_refused_or_finds_nothing(self, name, study):
        secret, path = make_secret(*Scope), "studies/{study}/judgments/"
        for odd in ODD:
            answer = read(path, study, secret=secret, **{name: odd})

            if answer.status_code == 200:
                assert name in {"rater", "system", "context"}
            else:
                assert answer.status_code == 400
                assert answer.json()["errors"][0]["pointer"] == f"/{name}"

    @pytest.mark.parametrize(
        ("path", "query", "pointer"),
        [
            ("studies/{study}/judgments/", "is_simulated=no", "/is_simulated"),
            ("studies/{study}/judgments/", "counts=perhaps", "/counts"),
            ("studies/{study}/judgments/", "rater=", "/rater"),
            ("studies/{study}/judgments/", "rater=a&rater=b", "/rater"),
            ("studies/{study}/judgments/", "is_simulatd=false", "/is_simulatd"),
            ("studies/{study}/fits/", "contexts=all", "/contexts"),
            ("studies/{study}/releases/", "state=x", "/state"),
            ("studies/{study}/ratings/", "pool=llm&pool=human", "/pool"),
            ("studies/{study}/", "pool=llm", "/pool"),
            ("systems/", "page=2", "/page"),
        ],
    )
    def test_none_is_passed_over(self, path, query, pointer, study):
        address = f"/api/v1/{path.format(study=study.slug)}?{query}"

        answer = Client().get(address, headers=bearing(make_secret(*Scope)))

        assert answer.status_code == 400
        assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]

    @pytest.mark.parametrize(("word", "is_all"), [("true", False), ("FALSE", True), ("0", True)])
    def test_a_flag_has_two_words(self, word, is_all, study):
        path = "studies/{study}/judgments/"

        assert (all_of(path, study, is_simulated=word) == all_of(path, study)) is is_all


class TestPages:
    @pytest.mark.parametrize("path", LISTS)
    def test_go_through_all_rows_once_in_order(self, path, study):
        make_completion()
        make_study(dataset=study.dataset)
        secret = make_secret(*Scope)
        every = all_of(path, study)

        found, answer = [], read(path, study, secret=secret, limit=1).json()
        while True:
            found += answer["results"]
            if answer["next"] is None:
                break
            answer = Client().get(answer["next"], headers=bearing(secret)).json()

        assert found == every

    @pytest.mark.parametrize("cursor", ["x", "====", base64.b64encode(b"-3").decode(), "\u00e9"])
    def test_an_unknown_cursor_is_refused(self, cursor):
        answer = read("studies/", cursor=cursor)

        assert answer.status_code == 400
        assert answer.json()["errors"] == [
            {"pointer": "/cursor", "detail": "not a cursor that was given out"}
        ]

    @pytest.mark.parametrize("limit", ["0", "501", "1.5", "many", "\u0663"])
    def test_are_bounded(self, limit):
        assert read("studies/", limit=limit).status_code == 400
        assert read("studies/", limit=MOST).status_code == 200

    @pytest.mark.parametrize("path", LISTS)
    def test_cost_the_same_however_long(self, path, study, django_assert_max_num_queries):
        secret = make_secret(*Scope)
        read(path, study, secret=secret)  # from here on its last use is written
        make_judged_study(study=study, n_dialogues=3)
        make_study(dataset=study.dataset)

        with django_assert_max_num_queries(9):
            answer = read(path, study, secret=secret)

        assert answer.status_code == 200

    def test_what_did_not_change_is_not_sent_again(self, study):
        secret = make_secret(*Scope)
        address = f"/api/v1/studies/{study.slug}/judgments/"
        tag = Client().get(address, headers=bearing(secret))["ETag"]
        again = {"If-None-Match": tag} | bearing(secret)

        assert Client().get(address, headers=again).status_code == 304
        make_exclusion(rater=Rater.objects.filter(judgments__isnull=False).first())
        assert Client().get(address, headers=again).status_code == 200
