"""The console's pages on raters: the monitor, one rater, the review and what it does."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import background
from annotation.models import Exclusion, Judgment, Rater, Study
from annotation.quality import services as annotation_services
from completions.models import Completion
from ranking.downloads import tables
from ranking.judgments import analysis_set
from ranking.monitor import console
from ranking.raters import queries, services
from tests.helpers.factories import make_judgment, make_rater, make_study, make_writer
from tests.helpers.factories_written_once import make_exclusion, make_member
from tests.helpers.pages import assert_turned_away
from tests.helpers.released import LATER, answer, decisions, make_pairs, make_reviewed_study

pytestmark = pytest.mark.django_db

NAMES = ["list", "csv", "review"]


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: LATER)


@pytest.fixture(scope="module")
def keys(module_rows):
    study, careless = make_reviewed_study()
    return study.pk, careless.pk


@pytest.fixture
def reviewed(keys):
    """A study of three readers and a careless one."""
    return Study.objects.get(pk=keys[0]), Rater.objects.get(pk=keys[1])


@pytest.fixture
def boss():
    return make_member("boss")


@pytest.fixture
def staff(boss):
    client = Client()
    client.force_login(boss)
    return client


def address(name, study, *more):
    return reverse(f"raters:{name}", args=[study.slug, *more])


def shown(client, name, study, *more, **query):
    answer = client.get(address(name, study, *more), query)
    assert answer.status_code == 200
    return answer.content.decode()


class TestAccess:
    @pytest.mark.parametrize("name", NAMES)
    def test_others_are_turned_away(self, name):
        study = make_study()

        found = Client().get(address(name, study))

        assert_turned_away(found)

    @pytest.mark.parametrize("name", ["exclude", "reinstate"])
    def test_others_decide_nothing(self, name, reviewed):
        study, careless = reviewed

        found = Client().post(address(name, study, careless.code), {"reason": "Because."})

        assert_turned_away(found)
        assert not Exclusion.objects.exists()

    def test_others_apply_no_review(self, reviewed):
        study, careless = reviewed

        Client().post(address("review", study), {"rater": [careless.code]})

        assert not Exclusion.objects.exists()

    @pytest.mark.parametrize("name", NAMES)
    def test_a_study_that_does_not_exist_is_not_found(self, staff, name):
        assert staff.get(reverse(f"raters:{name}", args=["nowhere"])).status_code == 404

    @pytest.mark.parametrize("query", ["sort=luck", "standing=odd", "sort=--code"])
    def test_an_address_that_asks_for_what_does_not_exist_is_not_found(self, staff, query):
        study = make_study()

        assert staff.get(f"{address('list', study)}?{query}").status_code == 404


class TestTheMonitor:
    def test_shows_the_figures_of_each_rater(self, staff, reviewed):
        study, careless = reviewed

        page = shown(staff, "list", study)

        assert page.count('scope="row"') == 4
        assert address("rater", study, careless.code) in page
        for text in ("Checks failed", "Would be left out", "47 s", "80 %", "100 %"):
            assert text in page

    def test_shows_the_way_to_the_review_while_somebody_would_go(self, staff, reviewed):
        study, _careless = reviewed

        assert "leave 1 rater out" in shown(staff, "list", study)
        services.review_raters(study=study, dry_run=False, now=LATER)
        assert "leave 1 rater out" not in shown(staff, "list", study)

    def test_says_what_it_will_show_while_nobody_has_answered(self, staff):
        assert "Nobody has yet" in shown(staff, "list", make_study())

    def test_lists_those_asked_for_in_the_order_asked_for(self, staff, reviewed):
        study, careless = reviewed

        (going,) = codes(staff.get(address("csv", study), {"standing": "going"}))
        by_checks = codes(staff.get(address("csv", study), {"sort": "-checks"}))
        by_name = codes(staff.get(address("csv", study), {"q": careless.code.lower()}))

        assert going == careless.code
        assert by_checks[-1] == careless.code
        assert by_name == [careless.code]

    def test_puts_what_is_not_known_last_in_either_order(self, staff):
        study = make_study()
        pair = make_pairs(study, n_contexts=1)[0]
        tied, chose = make_rater(study=study), make_rater(study=study)
        answer(pair, tied, 0)
        answer(pair, chose, 1)

        for sort in ("side", "-side"):
            assert codes(staff.get(address("csv", study), {"sort": sort}))[-1] == tied.code

    def test_says_in_the_heads_how_it_is_sorted(self, staff, reviewed):
        study, _careless = reviewed

        page = shown(staff, "list", study, sort="-infit", standing="in")

        assert page.count('aria-sort="descending"') == 1
        assert "?standing=in&amp;sort=infit" in page

    def test_costs_a_fixed_number_of_queries(self, staff, django_assert_max_num_queries, reviewed):
        study, _careless = reviewed

        with django_assert_max_num_queries(15):
            shown(staff, "list", study)


def codes(found):
    rows = csv.DictReader(io.StringIO(found.getvalue().decode()))
    return [row["rater"] for row in rows]


class TestASimulatedStudy:
    def test_says_so_on_every_page(self, staff):
        study, careless = make_reviewed_study(is_simulated=True, title="A simulated study")
        note = "The raters of this study are programs"

        assert note in shown(staff, "list", study)
        assert note in shown(staff, "rater", study, careless.code)
        assert note in shown(staff, "review", study)

    def test_is_the_only_one_that_says_so(self, staff, reviewed):
        study, _careless = reviewed

        assert "are programs" not in shown(staff, "list", study)


class TestTheTableToDownload:
    def test_has_the_figures_and_no_more_of_a_person_than_the_pseudonym(self, staff, reviewed):
        study, careless = reviewed
        type(careless).objects.filter(pk=careless.pk).update(
            external_id="prolific-person", platform="PROLIFIC"
        )
        services.review_raters(study=study, dry_run=False, now=LATER)

        text = staff.get(address("csv", study)).getvalue().decode()

        (row,) = [row for row in csv.DictReader(io.StringIO(text)) if row["rater"] == careless.code]
        assert tuple(row) == tables.RATER_COLUMNS
        assert row["checks_passed"] == "0"
        assert (row["findings"], row["standing"]) == ("checks-1", "out")
        assert row["decided_by_rule"] == "checks-1"
        assert "prolific-person" not in text


class TestThePageOfARater:
    def test_shows_the_reasons_that_they_wrote_last(self, staff, reviewed):
        study, careless = reviewed
        for word in ("first", "second"):
            make_judgment(
                rater=careless,
                comparison=make_pairs(study, n_contexts=1)[0],
                rationale=f"The {word} <reason>",
            )

        page = shown(staff, "rater", study, careless.code)

        assert page.index("The second &lt;reason&gt;") < page.index("The first &lt;reason&gt;")

    def test_shows_evidence_and_every_decision(self, staff, boss, reviewed):
        study, careless = reviewed
        services.review_raters(study=study, dry_run=False, now=LATER)
        annotation_services.reinstate_rater(
            rater=careless, reason="The gold was wrong.", by=boss, now=LATER
        )

        page = shown(staff, "rater", study, careless.code)

        assert "4 of 4 checks failed; from 50 % on a rater goes." in page
        assert "The gold was wrong." in page
        assert "by the rule itself" in page
        assert page.index("Taken back") < page.index("Left out")

    def test_opens_the_answers_behind_their_numbers(self, staff, reviewed):
        study, careless = reviewed

        page = shown(staff, "rater", study, careless.code)

        link = address("answers", study, careless.code)
        for query, n in (("", 19), ("?kind=checks", 4), ("?kind=failed", 4)):
            assert f'href="{link}{query}"' in page
            found = staff.get(f"{link}{query}").content.decode()
            assert f"{n} answers of 19" in found
            assert found.count('scope="row"') == n

    def test_says_that_nothing_was_found(self, staff, reviewed):
        study, careless = reviewed
        other = study.raters.exclude(pk=careless.pk).earliest("pk")

        assert "neither a reason" in shown(staff, "rater", study, other.code)

    def test_leaves_a_rater_out_and_takes_the_rater_back(self, staff, boss, reviewed):
        study, careless = reviewed
        n_judgments = Judgment.objects.count()

        for name in ("exclude", "reinstate"):
            found = staff.post(
                address(name, study, careless.code), {"reason": "For a test."}, follow=True
            )
            assert found.status_code == 200

        assert decisions(careless) == [(True, "by-hand"), (False, "taken-back by-hand")]
        assert {decision.decided_by for decision in Exclusion.objects.all()} == {boss}
        assert Judgment.objects.count() == n_judgments

    def test_asks_for_a_reason(self, staff, reviewed):
        study, careless = reviewed

        found = staff.post(address("exclude", study, careless.code), {"reason": " "})

        assert found.status_code == 422
        assert "Please say why" in found.content.decode()
        assert not Exclusion.objects.exists()

    def test_says_so_when_somebody_was_faster(self, staff, boss, reviewed):
        study, careless = reviewed
        annotation_services.exclude_rater(rater=careless, reason="?", by=boss, now=LATER)

        found = staff.post(
            address("exclude", study, careless.code), {"reason": "Me too."}, follow=True
        )

        assert "excluded already" in found.content.decode()
        assert len(decisions(careless)) == 1

    def test_of_nobody_is_not_found(self, staff):
        study = make_study()

        assert staff.get(address("rater", study, "R999")).status_code == 404
        posted = staff.post(address("exclude", study, "R999"), {"reason": "?"})
        assert posted.status_code == 404

    def test_costs_a_fixed_number_of_queries(self, staff, django_assert_max_num_queries, reviewed):
        study, careless = reviewed

        with django_assert_max_num_queries(15):
            shown(staff, "rater", study, careless.code)


class TestTheReview:
    def test_shows_who_would_go_and_how_ranks_would_move_and_changes_nothing(self, staff, reviewed):
        study, careless = reviewed

        page = shown(staff, "review", study)

        assert "1 rater of 4 would be left out" in page
        assert careless.code in page
        moves = f"{address('moves', study)}?rater={careless.code}"
        assert f'hx-get="{moves}"' in page
        assert f'href="{moves}"' in page
        for asked in ({}, {"HX-Request": "true"}):
            told = staff.get(moves, headers=asked).content.decode()
            assert "60 judgments now, 45 after" in told
            assert ("<html" in told) == (not asked)
        assert "with 15 answers; all of them stay stored" in page
        assert not Exclusion.objects.exists()

    def test_lets_those_go_that_were_shown(self, staff, boss, reviewed):
        study, careless = reviewed

        found = staff.post(address("review", study), {"rater": [careless.code]}, follow=True)

        assert "1 rater is left out now." in found.content.decode()
        (decision,) = Exclusion.objects.all()
        assert (decision.rater, decision.rule, decision.decided_by) == (careless, "checks-1", boss)

    def test_lets_nobody_go_when_others_would_go_by_now(self, staff, reviewed):
        study, _careless = reviewed

        found = staff.post(address("review", study), {"rater": ["R1"]}, follow=True)

        assert "please look again" in found.content.decode()
        assert not Exclusion.objects.exists()

    def test_sent_twice_does_nothing_the_second_time(self, staff, reviewed):
        study, careless = reviewed

        for _time in range(2):
            staff.post(address("review", study), {"rater": [careless.code]})

        assert len(decisions(careless)) == 1

    def test_says_that_nobody_would_go(self, staff):
        study = make_study()
        answer(make_pairs(study, n_contexts=1)[0], make_rater(study=study), 1)

        page = shown(staff, "review", study)

        assert "Nobody: the rules find no new reason" in page
        assert 'name="rater"' not in page

    def test_costs_a_fixed_number_of_queries(self, staff, django_assert_max_num_queries, reviewed):
        study, _careless = reviewed

        with django_assert_max_num_queries(15):
            shown(staff, "review", study)
        with django_assert_max_num_queries(15):
            staff.get(address("moves", study), {"rater": _careless.code})


class TestALargeStudy:
    """Its pages show what was measured, and say as of when."""

    @pytest.fixture(autouse=True)
    def _large(self, monkeypatch):
        monkeypatch.setattr(queries, "MOST_LIVE", 0)

    def test_says_as_of_when_and_has_it_measured_anew(self, staff, monkeypatch, reviewed):
        handed: list[int] = []
        monkeypatch.setattr(
            background, "hand_over", lambda _task, study_id: handed.append(study_id)
        )
        study, careless = reviewed

        assert "Nobody measured the raters" in shown(staff, "list", study)
        assert staff.post(address("measure", study)).status_code == 302
        services.measure_raters(study=study, now=LATER)

        assert handed == [study.pk]
        for name, more in (("list", ()), ("rater", (careless.code,)), ("review", ())):
            assert f"as of {LATER:%Y-%m-%d %H:%M} UTC" in shown(staff, name, study, *more)


class TestPages:
    def test_keep_the_filter(self, staff, monkeypatch, reviewed):
        monkeypatch.setattr(console, "PER_PAGE", 2)
        study, _careless = reviewed

        page = shown(staff, "list", study, sort="-answers", page="2")

        assert "Page 2 of 2" in page
        assert "?sort=-answers&amp;page=1" in page
        assert page.count('scope="row"') == 2

    def test_can_be_of_those_with_one_finding(self, staff, reviewed):
        study, careless = reviewed

        assert codes(staff.get(address("csv", study), {"found": "checks"})) == [careless.code]
        assert codes(staff.get(address("csv", study), {"found": "misfit"})) == []
        assert staff.get(address("list", study), {"found": "luck"}).status_code == 404


class TestTheAnswersOfARater:
    def test_leave_with_what_became_of_checks(self, staff, reviewed):
        study, careless = reviewed

        found = staff.get(address("answers_csv", study, careless.code), {"kind": "failed"})

        rows = list(csv.DictReader(io.StringIO(found.getvalue().decode())))
        assert tuple(rows[0]) == tables.ANSWER_COLUMNS
        assert {(row["rater"], row["is_passed"]) for row in rows} == {(careless.code, "False")}
        assert len(rows) == 4

    @pytest.mark.parametrize("why", ["", "excluded", "surplus", "erased"])
    def test_count_only_where_the_analysis_set_has_them(self, staff, why):
        judgment = make_judgment(is_surplus=why == "surplus")
        study, rater = judgment.rater.study, judgment.rater
        if why == "excluded":
            make_exclusion(rater=rater)
        if why == "erased":
            author = make_writer(dataset=study.dataset)
            text = Completion.objects.filter(pk=judgment.comparison.first_id)
            text.update(writer=author, text="", erased_at=LATER)

        page = shown(staff, "answers", study, rater.code)
        found = {
            kind: staff.get(address("answers_csv", study, rater.code), {"kind": kind})
            for kind in ("main", "out")
        }

        counting = analysis_set.n_judgments(study=study, as_of=LATER)
        assert counting == (not why)
        assert ("<td>counts</td>" in page) is not bool(why)
        lines = {kind: one.getvalue().decode().count(rater.code) for kind, one in found.items()}
        assert lines == {"main": counting, "out": 1 - counting}

    def test_of_nobody_and_of_no_kind_are_not_found(self, staff, reviewed):
        study, careless = reviewed

        assert staff.get(address("answers", study, "R999")).status_code == 404
        link = address("answers", study, careless.code)
        assert staff.get(link, {"kind": "lucky"}).status_code == 404
        assert staff.get(link, {"sort": "luck"}).status_code == 404
