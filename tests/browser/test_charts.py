"""Figures of results as a reader's browser draws them: values by pointer and keys, and ways out."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Site, load_until
from tests.browser.looks import LAPTOP, PHONE, overflow, violations

LOOKED_AROUND = """new Promise(done =>
    new IntersectionObserver((_seen, one) => { one.disconnect(); done(); }).observe(document.body)
)"""
"""Who began to look before this has been told by now what is near."""
LIBRARY = re.compile(r"/vendor/echarts-[\d.]+/echarts\.min\.js$")


def drawn(page: Page, kind: str) -> Locator:
    """Return the first chart of a kind, once it is drawn."""
    chart = page.locator(f".of-{kind}").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".canvas svg")).to_be_visible()
    return chart


def figure_of(chart: Locator) -> Locator:
    return chart.locator("xpath=ancestor::figure")


def inks(chart: Locator) -> set[str]:
    """Return the colours in which a chart is drawn."""
    found = chart.locator("svg :is(path, text)[fill]")
    fills = found.evaluate_all("all => all.map((one) => one.getAttribute('fill'))")
    return {fill.lower() for fill in fills}


def token(page: Page, name: str) -> str:
    style = f"getComputedStyle(document.documentElement).getPropertyValue('{name}')"
    return str(page.evaluate(style)).strip().lower()


@pytest.fixture
def analysis(site: Site):
    """Return the way to an analysis of the newest ratings."""

    def go(page: Page, name: str) -> None:
        page.goto(site.results)
        link = page.locator(".closer a", has_text=re.compile(f"^{name}$")).first
        load_until(page, link.count)
        page.goto(f"{site.address}{link.get_attribute('href')}")
        load_until(page, page.locator("main figure").count)  # it is listed once it is begun

    return go


WHERE = """table => {
    const { top, right } = table.getBoundingClientRect();
    const frame = table.closest(".scroll").getBoundingClientRect();
    return { top, cut: right - frame.right };
}"""


def test_a_laptop_shows_verdict_and_table_on_its_first_screen_with_every_column(visit, site):
    page: Page = visit(viewport=LAPTOP)
    page.goto(site.results)

    places = page.locator(".board table").first.evaluate(WHERE)

    expect(page.locator("header .lead")).to_be_in_viewport()
    assert places["top"] <= LAPTOP["height"] / 2
    assert places["cut"] <= 1


def test_values_are_read_by_keys_and_by_pointer(visit, site):
    page: Page = visit()
    page.goto(site.results)
    chart = drawn(page, "whiskers")
    top, bottom = (page.locator("tbody tr:not(.tier)").nth(n) for n in (0, -1))

    chart.locator(".view").focus()
    page.keyboard.press("ArrowRight")
    said = chart.get_by_role("status")
    expect(said).to_contain_text(f"Elo: {top.locator('td.number').first.inner_text()}")
    page.keyboard.press("End")
    expect(said).to_contain_text(f"Elo: {bottom.locator('td.number').first.inner_text()}")
    chart.locator(".view").evaluate("view => view.blur()")

    chart.locator(f"svg path[fill='{token(page, '--accent')}']").first.hover()
    expect(chart.locator("svg text", has_text="95 % interval")).to_be_visible()
    expect(chart.locator("svg text", has_text="Simulated").first).to_be_visible()


def test_systems_are_hidden_and_shown_by_keyboard(visit, site):
    page: Page = visit()
    page.goto(site.results)
    chart = drawn(page, "whiskers")
    chart.locator("summary").press("Enter")
    chip = chart.locator(".chip").first
    name = chip.inner_text()
    label = chart.locator("svg text", has_text=name)
    expect(label.first).to_be_visible()

    chip.press("Enter")
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(label).to_have_count(0)
    chip.press(" ")
    expect(label.first).to_be_visible()


@pytest.mark.parametrize("saves_data", [False, True])
def test_charts_out_of_sight_are_drawn_unless_the_reader_saves_data(visit, site, saves_data):
    page: Page = visit(viewport={"width": 360, "height": 200})
    saving = f"{{ value: {{ saveData: {str(saves_data).lower()} }} }}"
    page.add_init_script(f"Object.defineProperty(navigator, 'connection', {saving})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site.results)
    expect(page.locator("figure.charted").first).to_be_attached()

    if saves_data:
        page.evaluate(LOOKED_AROUND)
        assert not any(map(LIBRARY.search, asked))
        drawn(page, "whiskers")
        drawn(page, "heat")
    for kind in ("whiskers", "heat"):
        expect(page.locator(f".of-{kind} .canvas svg").first).to_be_attached()

    assert sum(bool(LIBRARY.search(one)) for one in asked) == 1


def test_colours_follow_the_scheme_while_it_changes(visit, site):
    page: Page = visit(color_scheme="dark")
    page.goto(site.results)
    chart = drawn(page, "whiskers")
    dark = token(page, "--ink")
    assert dark in inks(chart)

    page.emulate_media(color_scheme="light")

    light = token(page, "--ink")
    assert light != dark
    expect(chart.locator(f"svg text[fill='{light}']").first).to_be_visible()
    expect(chart.locator(f"svg :is(path, text)[fill='{dark}' i]")).to_have_count(0)


def test_a_heat_map_folds_its_table_and_points_their_picture(visit, analysis):
    page: Page = visit(viewport=PHONE)
    analysis(page, "System against system")
    figure = figure_of(drawn(page, "heat"))
    expect(figure.locator("table")).to_be_hidden()
    figure.get_by_text("As a table").click()
    expect(figure.locator("table")).to_be_visible()
    assert overflow(page) <= 0

    analysis(page, "Speed and capability")
    chart = drawn(page, "points")
    figure = figure_of(chart)
    expect(figure.locator("svg.plot")).to_be_hidden()
    expect(chart.locator("svg text", has_text="500").first).to_be_visible()
    chart.get_by_role("button", name="Zoom in").click()
    chart.get_by_role("button", name="Show all").click()
    assert overflow(page) <= 0
    assert violations(page) == []

    page.emulate_media(media="print")
    expect(figure.locator("svg.plot")).to_be_visible()
    expect(chart).to_be_hidden()


def test_a_chosen_radar_is_kept_in_the_address_and_in_print(visit, analysis):
    page: Page = visit()
    analysis(page, "Dimension by dimension")
    chart = drawn(page, "radar")
    figure = figure_of(chart)

    chart.locator(".chip[aria-pressed=true]").last.click()

    expect(page).to_have_url(re.compile(r"\?systems=[^&]+"))
    chosen = page.url.partition("?")[2].partition("#")[0]
    links = figure.locator("figcaption a", has_text=re.compile("^(SVG|PDF|PNG)$"))
    addresses = [str(link.get_attribute("href")) for link in links.all()]
    assert [address.partition("?")[2] for address in addresses] == [chosen] * 3
    n_drawn = chart.locator(".chip[aria-pressed=true]").count()
    page.reload()
    expect(drawn(page, "radar").locator(".chip[aria-pressed=true]")).to_have_count(n_drawn)


def test_without_scripts_or_the_library_pictures_and_tables_stay(visit, analysis):
    plain: Page = visit(java_script_enabled=False)
    analysis(plain, "Speed and capability")
    expect(plain.locator("svg.plot").first).to_be_visible()
    expect(plain.locator(".chart").first).to_be_hidden()

    page: Page = visit()
    page.route(LIBRARY, lambda route: route.abort())
    analysis(page, "Speed and capability")
    page.locator("svg.plot").first.scroll_into_view_if_needed()
    expect(page.locator(".chart").first).to_be_hidden()
    expect(page.locator("svg.plot").first).to_be_visible()
    analysis(page, "System against system")
    expect(page.locator("table.map").first).to_be_visible()


def test_reduced_motion_and_forced_colours_are_kept(visit, site):
    page: Page = visit(forced_colors="active")
    page.goto(site.results)
    expect(page.locator(".chart").first).to_be_hidden()

    calm: Page = visit(reduced_motion="reduce")
    calm.goto(site.results)
    chart = drawn(calm, "whiskers")
    chart.locator("summary").click()
    chart.locator(".chip").first.click()
    moving = chart.locator("svg").evaluate("svg => svg.getAnimations({ subtree: true }).length")
    assert moving == 0
