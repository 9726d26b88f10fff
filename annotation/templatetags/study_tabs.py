"""The tabs over every page about a study: the one place that knows them.

A page that is new gets a line in ``TABS``, and names its key where it includes
``console/study/_tabs.html``.
"""

from typing import NamedTuple, TypeAlias

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models import Study

register = template.Library()


class Page(NamedTuple):
    """A page about a study: its key, its label, and the name of its address."""

    key: str
    label: str | Promise
    address: str

    @property
    def is_of_dataset(self) -> bool:
        """Whether the address takes the slug of the study's dataset, and not the study's."""
        return self.address.startswith("contexts:")


Link: TypeAlias = tuple[str | Promise, str, str]
"""A label, an address, and the value of ``aria-current``, empty on other pages."""

TABS = (
    (
        _("Overview"),
        (
            Page("study", _("Progress"), "console:study"),
            Page("comparisons", _("Comparisons"), "raters:comparisons"),
            Page("judgments", _("Judgments"), "raters:judgments"),
        ),
    ),
    (
        _("Protocol"),
        (
            Page("protocol", _("Summary"), "console:protocol"),
            Page("plan", _("Plan"), "console:plan"),
        ),
    ),
    (
        _("Contexts"),
        (
            Page("contexts", _("Funnel"), "console:contexts"),
            Page("list", _("List"), "contexts:list"),
            Page("candidates", _("Candidates"), "contexts:candidates"),
            Page("held", _("Held back"), "contexts:held"),
        ),
    ),
    (_("Completions"), (Page("completions", _("Completions"), "raters:coverage"),)),
    (
        _("Raters"),
        (
            Page("raters", _("List"), "raters:list"),
            Page("review", _("Review"), "raters:review"),
            Page("payments", _("Payments"), "raters:payments"),
            Page("checks", _("Checks"), "console:checks"),
            Page("reports", _("Reports"), "console:reports"),
            Page("blinding", _("Blinding"), "blinding:audits"),
            Page("external", _("From elsewhere"), "console:external"),
            Page("personal_data", _("Personal data"), "console:personal_data"),
        ),
    ),
    (
        _("Judges"),
        (
            Page("judges", _("List"), "console:judges"),
            Page("judge_runs", _("Runs"), "console:judge_runs"),
            Page("themes", _("Themes"), "console:theme_overview"),
        ),
    ),
    (
        _("Results"),
        (
            Page("ratings", _("Ratings"), "raters:fits"),
            Page("results", _("Leaderboard"), "ranking:leaderboard"),
        ),
    ),
    (_("Planner"), (Page("planner", _("Planner"), "raters:planner"),)),
    (_("Exports"), (Page("exports", _("Exports"), "raters:exports"),)),
    (_("Release"), (Page("release", _("Release"), "raters:release"),)),
    (_("Log"), (Page("log", _("Log"), "raters:log"),)),
)
"""Each tab with its pages, the first of which it leads to."""


@register.simple_tag
def study_tabs(study: Study, here: str = "", *, is_below: bool = False) -> list[Link]:
    """Return the tabs of a study; ``is_below`` says that the page shown lies below ``here``."""
    links: list[Link] = []
    for label, pages in TABS:
        is_here = any(page.key == here for page in pages)
        is_page = is_here and len(pages) == 1 and not is_below
        links.append((label, _url(pages[0], study), _mark(is_here=is_here, is_page=is_page)))
    return links


@register.simple_tag
def pages_beside(study: Study, here: str = "", *, is_below: bool = False) -> list[Link]:
    """Return the pages of the tab that is shown, or nothing where it has but one."""
    shown = next((pages for _label, pages in TABS if any(one.key == here for one in pages)), ())
    if len(shown) == 1:
        return []
    return [
        (page.label, _url(page, study), _mark(is_here=page.key == here, is_page=not is_below))
        for page in shown
    ]


def _mark(*, is_here: bool, is_page: bool) -> str:
    if not is_here:
        return ""
    return "page" if is_page else "true"


def _url(page: Page, study: Study) -> str:
    return reverse(page.address, args=[study.dataset_slug if page.is_of_dataset else study.slug])
