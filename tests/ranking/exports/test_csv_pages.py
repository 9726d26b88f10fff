"""What leaves the site as CSV, and who may take it."""

import csv

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.choices import Side
from ranking.fits import services
from ranking.models import Fit
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_judge,
    make_judge_call,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.judged import make_judged_study, make_marked_judgment, make_study_of_people
from tests.helpers.pages import assert_turned_away
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db


def read(response):
    lines = b"".join(response.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))


def judgments(client, study):
    return client.get(reverse("ranking:judgments_csv", args=[study.slug]))


class TestJudgmentsCsv:
    def test_has_a_row_per_judgment_in_the_canonical_frame(self, admin_client):
        comparison = make_comparison()
        rater = make_rater(study=comparison.study, code="R7XK2")
        make_judgment(
            comparison=comparison, rater=rater, verdict=-2, first_side=Side.B, rationale="Warm."
        )

        (row,) = read(judgments(admin_client, comparison.study))

        assert row["comparison"] == comparison.key
        assert row["first_system"] == comparison.first.system.slug
        assert (row["rater"], row["judge"]) == ("R7XK2", "")
        assert (row["verdict"], row["side_of_first"], row["rationale"]) == ("-2", "B", "Warm.")
        assert row["protocol_hash"] == comparison.study.protocol_hash
        assert (row["counts"], row["is_revised"], row["mark_H"]) == ("True", "False", "")

    def test_says_how_a_judge_was_asked_and_how_sure_it_was(self, admin_client):
        comparison = make_comparison()
        call = make_judge_call(
            comparison=comparison,
            sample=2,
            first_probability=0.25,
            prompt_hash="f" * 64,
            asked={"addressed": {"first": ["plays-role"]}},
        )
        make_llm_judgment(comparison=comparison, judge=call.judge, judge_call=call)
        make_llm_judgment(comparison=comparison)
        make_judgment(comparison=comparison)
        columns = ("sample", "first_probability", "addresses_judge", "prompt_hash")

        rows = read(judgments(admin_client, comparison.study))

        assert [tuple(row[name] for name in columns) for row in rows] == [
            ("2", "0.25", "True", "f" * 64),
            ("0", "", "False", ""),
            ("", "", "False", ""),
        ]

    def test_has_the_marks_of_judges(self, admin_client):
        comparison = make_comparison()
        make_marked_judgment(comparison, make_judge(name="Judge Ash"), -3)

        (row,) = read(judgments(admin_client, comparison.study))

        assert (row["judge"], row["rater"]) == ("Judge Ash", "")
        assert (row["mark_H"], row["mark_E"], row["mark_A"]) == ("-3", "0", "")

    def test_keeps_what_does_not_count_and_says_so(self, admin_client):
        comparison = make_comparison()
        surplus = make_judgment(comparison=comparison, is_surplus=True)
        make_judgment(
            comparison=comparison,
            rater=surplus.rater,
            lease=surplus.lease,
            revises=surplus,
        )

        rows = read(judgments(admin_client, comparison.study))

        flags = [(row["is_surplus"], row["is_revised"], row["counts"]) for row in rows]
        assert flags == [("True", "True", "False"), ("False", "False", "True")]

    def test_holds_nothing_that_identifies_a_rater(self, admin_client):
        study = make_study()
        rater = make_rater(
            study=study, platform="PROLIFIC", external_id="5f1d-secret", session={"x": "secret2"}
        )
        make_judgment(comparison=make_comparison(study=study), rater=rater)

        content = b"".join(judgments(admin_client, study).streaming_content).decode()

        assert "secret" not in content

    def test_takes_the_fire_out_of_formulas(self, admin_client):
        comparison = make_comparison()
        make_judgment(comparison=comparison, rationale='=HYPERLINK("http://x")')

        (row,) = read(judgments(admin_client, comparison.study))

        assert row["rationale"] == '\'=HYPERLINK("http://x")'

    def test_leaves_other_studies_out(self, admin_client):
        make_judgment()

        assert read(judgments(admin_client, make_study())) == []

    def test_costs_the_same_queries_for_any_number_of_judgments(
        self, admin_client, django_assert_max_num_queries
    ):
        study = make_judged_study(with_llm=True)

        with django_assert_max_num_queries(
            13
        ):  # who asks, the study, what is simulated, rules, rows
            assert len(read(judgments(admin_client, study))) == 24

    def test_is_for_members_alone(self, client, django_user_model):
        study = make_study()
        plain = User.objects.create_user("plain")

        anonymous = judgments(client, study)
        client.force_login(plain)
        signed_in = judgments(client, study)

        assert_turned_away(anonymous)
        assert_turned_away(signed_in)

    def test_of_an_unknown_study_is_not_found(self, admin_client):
        address = reverse("ranking:judgments_csv", args=["nothing"])

        assert admin_client.get(address).status_code == 404


class TestRatingsCsv:
    def test_has_a_row_per_system_best_first_and_leaves_cells_without_marks_empty(self, client):
        systems = [make_system(name="=Ash"), make_system(name="Beech")]
        study = make_judged_study(systems=systems, with_llm=True, verdict=lambda *_: 1)
        services.refit_study(study=study, clock=lambda: NOW + HOUR)
        close(study)
        fit = Fit.objects.get(pool="LLM", context_set="ALL")

        rows = read(client.get(reverse("ranking:ratings_csv", args=[study.slug, fit.key])))

        assert [row["system"] for row in rows] == ["'=Ash", "Beech"]
        assert [row["win_per_cent"] for row in rows] == ["100.0", "0.0"]
        assert [row["win_per_cent_H"] for row in rows] == ["100.0", "0.0"]
        assert {row["win_per_cent_E"] for row in rows} == {""}
        assert {row["fit"] for row in rows} == {fit.key}
        assert sum(float(row["elo"]) for row in rows) == pytest.approx(3000.0)

    def test_ends_with_what_is_made_from_people_which_is_no_system(self, client):
        study = make_study_of_people()
        services.refit_study(study=study, clock=lambda: NOW + HOUR)
        close(study)
        fit = Fit.objects.get(pool="HUMAN", context_set="ALL")

        rows = read(client.get(reverse("ranking:ratings_csv", args=[study.slug, fit.key])))

        assert [row["derived"] for row in rows] == [
            *[""] * 3,
            "Average Human",
            "Mean of the texts of a context",
            "Random text of a context",
            "Best Human, cross-fitted",
            "Best Human, plain",
        ]
        for row in rows[3:]:
            assert (row["system"], row["rank"], row["kind"]) == ("", "", "DERIVED")
            assert float(row["elo_low"]) <= float(row["elo"]) <= float(row["elo_high"])
            assert int(row["n_judgments"]) > 0
        assert None not in rows[3]  # as many cells as columns
