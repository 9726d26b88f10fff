"""The tabs over every page about a study: the one place that knows them.

A page that is new gets a line in ``TABS``, and names its key where it includes
``console/study/_tabs.html``.
"""

from dataclasses import dataclass
from typing import Protocol

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

register = template.Library()


class OfStudy(Protocol):
    """A study, or its row: all that an address needs."""

    @property
    def slug(self) -> str:
        """The study's slug."""

    @property
    def dataset_slug(self) -> str:
        """The slug of its dataset."""


@dataclass(frozen=True)
class Page:
    """A page about a study: its key, its label, and the name of its address.

    The address takes the study's slug, or that of its dataset where ``is_of_dataset``.
    """

    key: str
    label: str | Promise
    address: str
    is_of_dataset: bool = False


@dataclass(frozen=True)
class Tab:
    """A tab: its label, and its pages, the first of which it leads to."""

    label: str | Promise
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Link:
    """A link to a page; ``current`` is the value of ``aria-current``, empty on other pages."""

    label: str | Promise
    url: str
    current: str


def _alone(key: str, label: str | Promise, address: str) -> Tab:
    return Tab(label, (Page(key, label, address),))


TABS = (
    Tab(
        _("Overview"),
        (
            Page("study", _("Overview"), "console:study"),
            Page("comparisons", _("Comparisons"), "raters:comparisons"),
            Page("judgments", _("Judgments"), "raters:judgments"),
        ),
    ),
    Tab(
        _("Protocol"),
        (
            Page("protocol", _("Protocol"), "console:protocol"),
            Page("plan", _("Plan"), "console:plan"),
        ),
    ),
    Tab(
        _("Contexts"),
        (
            Page("contexts", _("Funnel"), "console:contexts"),
            Page("list", _("List"), "contexts:list", is_of_dataset=True),
            Page("candidates", _("Candidates"), "contexts:candidates", is_of_dataset=True),
            Page("held", _("Held back"), "contexts:held", is_of_dataset=True),
        ),
    ),
    _alone("completions", _("Completions"), "raters:coverage"),
    Tab(
        _("Raters"),
        (
            Page("raters", _("Raters"), "raters:list"),
            Page("review", _("Review"), "raters:review"),
            Page("payments", _("Payments"), "raters:payments"),
            Page("checks", _("Checks"), "console:checks"),
            Page("reports", _("Reports"), "console:reports"),
            Page("blinding", _("Blinding"), "blinding:audits"),
            Page("external", _("From elsewhere"), "console:external"),
            Page("personal_data", _("Personal data"), "console:personal_data"),
        ),
    ),
    Tab(
        _("Judges"),
        (
            Page("judges", _("Judges"), "console:judges"),
            Page("judge_runs", _("Runs"), "console:judge_runs"),
            Page("themes", _("Themes"), "console:theme_overview"),
        ),
    ),
    Tab(
        _("Results"),
        (
            Page("ratings", _("Ratings"), "raters:fits"),
            Page("results", _("Leaderboard"), "ranking:leaderboard"),
        ),
    ),
    _alone("planner", _("Planner"), "raters:planner"),
    _alone("exports", _("Exports"), "raters:exports"),
    _alone("release", _("Release"), "raters:release"),
    _alone("log", _("Log"), "raters:log"),
)


@register.simple_tag
def study_tabs(study: OfStudy, here: str = "", *, is_below: bool = False) -> list[Link]:
    """Return the tabs of a study; ``is_below`` says that the page shown lies below ``here``."""
    links = []
    for tab in TABS:
        is_here = any(page.key == here for page in tab.pages)
        is_page = is_here and len(tab.pages) == 1 and not is_below
        links.append(
            Link(tab.label, _url(tab.pages[0], study), _mark(is_here=is_here, is_page=is_page))
        )
    return links


@register.simple_tag
def pages_beside(study: OfStudy, here: str = "", *, is_below: bool = False) -> list[Link]:
    """Return the pages of the tab that is shown, or nothing where it has but one."""
    tab = next((tab for tab in TABS if any(page.key == here for page in tab.pages)), None)
    if tab is None or len(tab.pages) == 1:
        return []
    return [
        Link(page.label, _url(page, study), _mark(is_here=page.key == here, is_page=not is_below))
        for page in tab.pages
    ]


def _mark(*, is_here: bool, is_page: bool) -> str:
    if not is_here:
        return ""
    return "page" if is_page else "true"


def _url(page: Page, study: OfStudy) -> str:
    return reverse(page.address, args=[study.dataset_slug if page.is_of_dataset else study.slug])
