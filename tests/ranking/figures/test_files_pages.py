"""Figures as files: the same bytes each time, with all names in them; their downloads."""

import io
from functools import cache
from importlib import import_module

import pytest
from django.urls import reverse
from PIL import Image

from ranking import figures
from ranking.choices import AnalysisKind, FitState
from ranking.figures import (
    FigureFormat,
    FiguresBusyError,
    rendered,
    rendering,
    table_drawing,
)
from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.results import views
from ranking.results.views import KEPT_S
from tests.helpers.factories import HOUR, NOW, make_judge, make_rater, make_system
from tests.helpers.factories_written_once import make_analysis, make_fit, make_member
from tests.helpers.rated import DIAGNOSTICS, METHOD, close, make_findings, make_rated_fit
from tests.helpers.rated import heat_map as heat_map_of
from tests.ranking.figures.drawn import (
    NAMES,
    around,
    calibration,
    draw_board,
    funnel,
    heat_map,
    intervals,
    make_sign,
    over_time,
    speeds,
    text_of,
)

DRAWN = ("matrix", "differences", "told-and-seen", "growth", "radar", "funnel")
TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


@pytest.fixture
def fit():
    fit = make_rated_fit([make_system(slug="ash", name="Ash"), make_system(slug="beech")])
    close(fit.study)
    return fit


def found(fit, **fields):
    findings = make_findings(**fields).as_json()
    done = {"state": FitState.DONE, "ended_at": NOW + HOUR}
    return make_analysis(fit=fit, kind=AnalysisKind.RATERS, result=findings, **done)


def of_table(fit, key="matrix", form="svg", kind="raters"):
    return reverse("ranking:table_figure", args=[fit.study.slug, fit.key, kind, key, form])


def of_ratings(fit, form="svg"):
    return reverse("ranking:ratings_figure", args=[fit.study.slug, fit.key, form])


def page_of(client, fit):
    return client.get(reverse("ranking:analysis", args=[fit.study.slug, fit.key, "raters"]))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "form", ["svg", *(pytest.param(form, marks=pytest.mark.full) for form in ("pdf", "png"))]
)
def test_every_format_is_a_file_with_a_name(client, fit, form):
    found(fit)

    for address, name in (
        (of_ratings(fit, form), "ratings"),
        (of_table(fit, "differences", form), "raters-differences"),
    ):
        response = client.get(address)
        file = f'filename="{fit.study.slug}-{fit.key}-{name}.{form}"'
        assert response["Content-Type"] == TYPES[form]
        assert response["Content-Disposition"] == f"attachment; {file}"
        assert response["Cache-Control"] == f"public, max-age={KEPT_S}"


@pytest.mark.django_db
class TestFigures:
    @pytest.mark.parametrize(
        "key", ["matrix", *(pytest.param(key, marks=pytest.mark.full) for key in DRAWN[1:])]
    )
    def test_show_systems_by_name_and_the_fit(self, client, fit, key):
        found(fit)

        svg = client.get(of_table(fit, key)).content.decode()

        assert ">Ash<" in svg
        assert ">ash<" not in svg
        assert f"fit {fit.key}" in svg

    @pytest.mark.parametrize("of_system", [False, True], ids=["who judged", "a system"])
    def test_of_simulated_data_say_so_in_the_file_and_in_its_name(self, client, of_system):
        ash = make_system(slug="ash", name="Simulated Ash", is_simulated=of_system)
        fit = make_rated_fit([ash, make_system(slug="beech")], is_simulated=not of_system)
        found(fit)

        for address in (of_table(fit), of_ratings(fit)):
            response = client.get(address)
            assert 'filename="simulated-' in response["Content-Disposition"]
            assert ">SIMULATED<" in response.content.decode()

    def test_name_no_rater_also_to_staff(self, client, fit):
        make_judge(slug="judge-oak", name="Judge Oak")
        rater = make_rater(study=fit.study)
        who = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
        rows = ((rater.code, 0.5), ("judge-oak", 0.4))
        table = Table("who", "Who", "", (who, Column("n", "N")), rows, Picture.HEAT)
        found(fit, tables=(table,))
        client.force_login(make_member("lead"))

        svg = client.get(of_table(fit, "who")).content.decode()

        assert ">Judge Oak<" in svg
        assert rater.code not in svg

    def test_are_linked_beside_the_tables_that_have_one_and_below_ratings(self, client, fit):
        found(fit)

        html = page_of(client, fit).content.decode()
        of_fit = client.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))

        for key in DRAWN:
            assert all(of_table(fit, key, form) in html for form in TYPES)
        assert of_table(fit, "evaluators") not in html
        assert all(of_ratings(fit, form) in of_fit.content.decode() for form in TYPES)

    def test_cost_few_queries(self, client, fit, django_assert_max_num_queries):
        found(fit)

        # study, fit, analyses, systems, judges, raters
        with django_assert_max_num_queries(6):
            client.get(of_table(fit))
        # study, fit, ratings with systems, dimension rates, people, groups
        with django_assert_max_num_queries(6):
            client.get(of_ratings(fit))


@pytest.mark.django_db
class TestRefusals:
    def test_say_in_words_why_a_table_is_not_drawn_and_lead_to_none(self, client, fit):
        found(fit, tables=(heat_map_of([f"system-{n}" for n in range(61)]),))

        response = client.get(of_table(fit))

        assert response.status_code == 422
        assert "has 61 rows" in response.content.decode()
        assert response["Cache-Control"] == "no-store"
        assert of_table(fit) not in page_of(client, fit).content.decode()

    def test_ask_to_come_again_while_others_are_drawn(self, client, fit, monkeypatch):
        def busy(*_):
            raise FiguresBusyError

        monkeypatch.setattr(figures, "rendered", busy)

        response = client.get(of_ratings(fit))

        assert response.status_code == 503
        assert response["Retry-After"] == str(views.RETRY_S)

    @pytest.mark.parametrize(
        "change", [{"form": "gif"}, {"key": "nothing"}, {"kind": "pairs"}], ids=str
    )
    def test_what_is_not_there_is_not_found(self, client, fit, change):
        found(fit)

        assert client.get(of_table(fit, **change)).status_code == 404

    def test_of_refused_ratings_are_refused(self, client, fit):
        known = {"diagnostics": DIAGNOSTICS, "method": METHOD, "ended_at": NOW}
        refused = make_fit(study=fit.study, state=FitState.REFUSED, refusal="No.", **known)

        assert client.get(of_ratings(refused)).status_code == 422


FEW = NAMES[:2]
DRAWINGS = {
    "heat map": lambda sign: table_drawing(heat_map(FEW), sign),
    "intervals": lambda sign: table_drawing(intervals(FEW), sign),
    "points": lambda sign: table_drawing(speeds(FEW), sign),
    "calibration": lambda sign: table_drawing(calibration(), sign),
    "lines": lambda sign: table_drawing(over_time(FEW), sign),
    "radar": lambda sign: table_drawing(around(), sign),
    "funnel": lambda sign: table_drawing(funnel(), sign),
    "ratings": lambda sign: draw_board(sign, FEW),
}
STARTS = {FigureFormat.SVG: b"<?xml", FigureFormat.PDF: b"%PDF", FigureFormat.PNG: b"\x89PNG"}
full = pytest.mark.full


def svg_of(drawing):
    return rendered(drawing, FigureFormat.SVG)


@cache
def drawn_once(name, form=FigureFormat.SVG):
    """A picture as a file, for all tests that read one."""
    return rendered(DRAWINGS[name](make_sign()), form)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        # every picture in one form, and one picture in every form; the others at full size
        pytest.param(name, form, marks=() if form is FigureFormat.SVG or name == "radar" else full)
        for name in DRAWINGS
        for form in FigureFormat
    ],
)
def test_every_picture_is_the_same_bytes_each_time(name, form):
    again = rendered(DRAWINGS[name](make_sign()), form)

    assert again.startswith(STARTS[form])
    assert again == drawn_once(name, form)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_says_where_it_comes_from_and_whether_data_are_simulated(name):
    sign = make_sign(is_simulated=True, is_exploratory=True)
    real, simulated = text_of(drawn_once(name)), text_of(svg_of(DRAWINGS[name](sign)))

    assert "HEART, spring · fit fit-3f9a2c · as of 2026-05-01 12:00 UTC" in real
    assert "imulated" not in real
    # in the corner, across it and below
    assert " SIMULATED " in simulated
    assert simulated.endswith(" simulated")
    assert "simulated data · exploratory ·" in simulated


@pytest.mark.parametrize("make_table", [heat_map, intervals, speeds, over_time, None])
def test_every_row_is_named_in_the_text_of_the_svg(make_table):
    sign = make_sign()
    drawing = table_drawing(make_table(), sign) if make_table else draw_board(sign)

    shown = text_of(svg_of(drawing))

    assert [name for name in NAMES if name not in shown] == []


def test_a_png_has_300_dots_an_inch():
    with Image.open(io.BytesIO(drawn_once("radar", FigureFormat.PNG))) as image:
        width = DRAWINGS["radar"](make_sign()).width
        assert image.width == pytest.approx(width / 72 * 300, abs=1)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_fonts_are_embedded_in_pdf_as_journals_take_them():
    content = drawn_once("radar", FigureFormat.PDF)

    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_signs_of_other_languages_of_files_are_only_text():
    names = ("A & B <script>", "costs $5 to $9", "line\x0bfeed\x00")
    svg = svg_of(table_drawing(intervals(names), make_sign()))

    shown = text_of(svg)
    for said in ("A & B <script>", "costs $5 to $9", "line feed"):
        assert said in shown
    assert b"<script" not in svg


def test_settings_of_matplotlib_stay_as_they_were():
    mpl = import_module("matplotlib")  # collecting the tests does not load it
    before = dict(mpl.rcParams)

    svg_of(table_drawing(heat_map(FEW), make_sign()))

    assert dict(mpl.rcParams) == before


def test_a_figure_that_waits_for_others_too_long_is_not_begun(monkeypatch):
    class Taken:
        def acquire(self, timeout):
            return False

    monkeypatch.setattr(rendering, "_ONE_AT_A_TIME", Taken())

    with pytest.raises(FiguresBusyError):
        table_drawing(heat_map(FEW), make_sign())
