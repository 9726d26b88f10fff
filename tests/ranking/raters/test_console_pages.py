"""The console's pages on raters: the monitor, one rater, the review and what it does.

Who may see them, and how much each asks the database, is proved for every page of the console.
"""

import csv
import io
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import background
from annotation.choices import StudyState
from annotation.models import Exclusion, Judgment, Study
from annotation.quality.services import excluding
from completions.models import Completion
from ranking import downloads
from ranking.monitor import console
from ranking.raters import queries, services
from tests.helpers.factories import make_judgment, make_rater, make_study, make_writer
from tests.helpers.factories_written_once import make_exclusion, make_member
from tests.helpers.released import LATER, answer, decisions, make_pairs, make_reviewed_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: LATER)


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


def rows(client, name, study, *more, **query):
    found = client.get(address(name, study, *more), query)
    return list(csv.DictReader(io.StringIO(found.getvalue().decode())))


def codes(client, study, **query):
    return [row["rater"] for row in rows(client, "csv", study, **query)]


class TestTheMonitor:
    def test_knows_no_order_that_is_reversed_twice(self, staff, study):
        assert staff.get(address("list", study), {"sort": "--code"}).status_code == 404

    def test_shows_what_was_found_beside_the_rater(self, staff, study, careless):
        """A phone shows the first columns alone."""
        page = shown(staff, "list", study)
        heads = re.findall(r"sort=-?(\w+)", page.partition("<thead>")[2].partition("</thead>")[0])

        assert heads[:3] == ["code", "findings", "standing"]

    def test_shows_the_figures_of_each_rater(self, staff, study, careless):
        page = shown(staff, "list", study)

        assert page.count('scope="row"') == 4
        assert address("rater", study, careless.code) in page
        for text in ("Checks failed", "Would be left out", "47 s", "80 %", "100 %"):
            assert text in page
        assert "are programs" not in page

    def test_shows_the_way_to_the_review_while_somebody_would_go(self, staff, study):
        assert "leave 1 rater out" in shown(staff, "list", study)
        services.review_raters(study=study, dry_run=False, now=LATER)
        assert "leave 1 rater out" not in shown(staff, "list", study)

    @pytest.mark.parametrize(
        ("state", "told"),
        [
            (StudyState.DRAFT, "Nobody has yet. Open the study, and send its address to raters."),
            (StudyState.LOCKED, "Nobody has yet. Open the study, and send its address to raters."),
            (StudyState.PAUSED, "Nobody has yet. Open the study, and send its address to raters."),
            (StudyState.OPEN, "Nobody has yet. Send the study's address to raters.</p>"),
            (StudyState.CLOSED, "Nobody has yet.</p>"),
        ],
    )
    def test_says_what_is_to_do_while_nobody_has_answered(self, staff, state, told):
        study = make_study()
        Study.objects.update(state=state)

        assert told in shown(staff, "list", study)

    def test_is_titled_as_other_pages_of_a_study_are(self, staff, study, careless):
        pages = {
            "Raters": shown(staff, "list", study),
            "Review of raters": shown(staff, "review", study),
            careless.code: shown(staff, "rater", study, careless.code),
        }

        for title, page in pages.items():
            assert f"<title>{title} · {study.title} · HEART</title>" in page

    def test_lists_those_asked_for_in_the_order_asked_for(self, staff, study, careless):
        assert codes(staff, study, standing="going") == [careless.code]
        assert codes(staff, study, q=careless.code.lower()) == [careless.code]
        assert codes(staff, study, found="checks") == [careless.code]
        assert codes(staff, study, found="misfit") == []
        assert codes(staff, study, sort="-checks")[-1] == careless.code

    def test_puts_what_is_not_known_last_in_either_order(self, staff):
        study = make_study()
        pair = make_pairs(study, n_contexts=1)[0]
        tied, chose = make_rater(study=study), make_rater(study=study)
        answer(pair, tied, 0)
        answer(pair, chose, 1)

        for sort in ("side", "-side"):
            assert codes(staff, study, sort=sort)[-1] == tied.code

    def test_says_how_it_is_sorted_and_keeps_the_filter_from_page_to_page(
        self, staff, monkeypatch, study
    ):
        monkeypatch.setattr(console, "PER_PAGE", 2)

        page = shown(staff, "list", study, sort="-infit", standing="in")
        second = shown(staff, "list", study, sort="-answers", page="2")

        assert page.count('aria-sort="descending"') == 1
        assert "?standing=in&amp;sort=infit" in page
        assert "Page 2 of 2" in second
        assert "?sort=-answers&amp;page=1" in second
        assert second.count('scope="row"') == 2

    def test_is_downloaded_with_no_more_of_a_person_than_the_pseudonym(
        self, staff, study, careless
    ):
        type(careless).objects.filter(pk=careless.pk).update(
            external_id="prolific-person", platform="PROLIFIC"
        )
        services.review_raters(study=study, dry_run=False, now=LATER)

        text = staff.get(address("csv", study)).getvalue().decode()

        (row,) = [row for row in csv.DictReader(io.StringIO(text)) if row["rater"] == careless.code]
        assert tuple(row) == downloads.RATER_COLUMNS
        assert row["checks_passed"] == "0"
        assert (row["findings"], row["standing"]) == ("checks-2", "out")
        assert row["decided_by_rule"] == "checks-2"
        assert "prolific-person" not in text


def test_every_page_on_programs_says_that_they_are(staff):
    study, careless = make_reviewed_study(is_simulated=True, title="A simulated study")

    for name, more in (("list", ()), ("rater", (careless.code,)), ("review", ())):
        assert "The raters of this study are programs" in shown(staff, name, study, *more)


class TestThePageOfARater:
    def test_shows_the_reasons_that_they_wrote_last(self, staff, study, careless):
        for word in ("first", "second"):
            make_judgment(
                rater=careless,
                comparison=make_pairs(study, n_contexts=1)[0],
                rationale=f"The {word} <reason>",
            )

        page = shown(staff, "rater", study, careless.code)

        assert page.index("The second &lt;reason&gt;") < page.index("The first &lt;reason&gt;")

    def test_shows_evidence_and_every_decision(self, staff, boss, study, careless):
        services.review_raters(study=study, dry_run=False, now=LATER)
        excluding.reinstate_rater(rater=careless, reason="The gold was wrong.", by=boss, now=LATER)

        page = shown(staff, "rater", study, careless.code)

        assert "4 of 4 checks failed; from 50 % on a rater goes." in page
        assert "The gold was wrong." in page
        assert "by the rule itself" in page
        assert page.index("Taken back") < page.index("Left out")

    def test_opens_the_answers_behind_their_numbers(self, staff, study, careless):
        page = shown(staff, "rater", study, careless.code)

        link = address("answers", study, careless.code)
        for query, n in (("", 19), ("?kind=checks", 4), ("?kind=failed", 4)):
            assert f'href="{link}{query}"' in page
            found = staff.get(f"{link}{query}").content.decode()
            assert f"{n} answers of 19" in found
            assert found.count('scope="row"') == n

    def test_says_that_nothing_was_found(self, staff, study, careless):
        other = study.raters.exclude(pk=careless.pk).earliest("pk")

        assert "neither a reason" in shown(staff, "rater", study, other.code)

    def test_leaves_a_rater_out_and_takes_the_rater_back(self, staff, boss, study, careless):
        n_judgments = Judgment.objects.count()

        for name in ("exclude", "reinstate"):
            asked = address(name, study, careless.code)
            assert staff.post(asked, {"reason": "For a test."}, follow=True).status_code == 200

        assert decisions(careless) == [(True, "by-hand"), (False, "taken-back by-hand")]
        assert {decision.decided_by for decision in Exclusion.objects.all()} == {boss}
        assert Judgment.objects.count() == n_judgments

    def test_asks_for_a_reason(self, staff, study, careless):
        found = staff.post(address("exclude", study, careless.code), {"reason": " "})

        assert found.status_code == 422
        assert "Please say why" in found.content.decode()
        assert not Exclusion.objects.exists()

    def test_says_so_when_somebody_was_faster(self, staff, boss, study, careless):
        excluding.exclude_rater(rater=careless, reason="?", by=boss, now=LATER)

        asked = address("exclude", study, careless.code)
        found = staff.post(asked, {"reason": "Me too."}, follow=True)

        assert "excluded already" in found.content.decode()
        assert len(decisions(careless)) == 1


class TestTheReview:
    def test_shows_who_would_go_and_how_ranks_would_move_and_changes_nothing(
        self, staff, study, careless
    ):
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

    def test_lets_those_go_once_that_were_shown(self, staff, boss, study, careless):
        asked = address("review", study), {"rater": [careless.code]}

        first, _second = (staff.post(*asked, follow=True) for _time in range(2))

        assert "1 rater is left out now." in first.content.decode()
        (decision,) = Exclusion.objects.all()
        assert (decision.rater, decision.rule, decision.decided_by) == (careless, "checks-2", boss)

    def test_lets_nobody_go_when_others_would_go_by_now(self, staff, study):
        found = staff.post(address("review", study), {"rater": ["R1"]}, follow=True)

        assert "please look again" in found.content.decode()
        assert not Exclusion.objects.exists()

    def test_says_that_nobody_would_go(self, staff):
        study = make_study()
        answer(make_pairs(study, n_contexts=1)[0], make_rater(study=study), 1)

        page = shown(staff, "review", study)

        assert "Nobody: the rules find no new reason" in page
        assert 'name="rater"' not in page


def test_pages_of_a_large_study_say_as_of_when_and_have_it_measured_anew(
    staff, monkeypatch, study, careless
):
    handed: list[int] = []
    monkeypatch.setattr(queries, "MOST_LIVE", 0)
    monkeypatch.setattr(background, "hand_over", lambda _task, study_id: handed.append(study_id))

    assert "Nobody measured the raters" in shown(staff, "list", study)
    assert staff.post(address("measure", study)).status_code == 302
    services.measure_raters(study=study, now=LATER)

    assert handed == [study.pk]
    for name, more in (("list", ()), ("rater", (careless.code,)), ("review", ())):
        assert f"as of {LATER:%-d %b %Y, %H:%M} UTC" in shown(staff, name, study, *more)


class TestTheAnswersOfARater:
    def test_leave_with_what_became_of_checks(self, staff, study, careless):
        found = rows(staff, "answers_csv", study, careless.code, kind="failed")

        assert tuple(found[0]) == downloads.ANSWER_COLUMNS
        assert {(row["rater"], row["is_passed"]) for row in found} == {(careless.code, "False")}
        assert len(found) == 4

    @pytest.mark.parametrize("why", ["", "excluded", "erased"])
    def test_count_only_where_the_analysis_set_has_them(self, staff, why):
        judgment = make_judgment()
        study, rater = judgment.rater.study, judgment.rater
        if why == "excluded":
            make_exclusion(rater=rater)
        if why == "erased":
            author = make_writer(dataset=study.dataset)
            text = Completion.objects.filter(pk=judgment.comparison.first_id)
            text.update(writer=author, text="", erased_at=LATER)

        page = shown(staff, "answers", study, rater.code)
        main, out = (
            rows(staff, "answers_csv", study, rater.code, kind=kind) for kind in ("main", "out")
        )

        assert ("<td>counts</td>" in page) is not bool(why)
        assert (len(main), len(out)) == ((0, 1) if why else (1, 0))
