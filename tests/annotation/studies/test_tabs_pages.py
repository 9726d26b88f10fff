"""The tabs over every page about a study."""

import re

import pytest
from django.urls import get_resolver, reverse

from annotation.studies.protocol.study import TAKEN
from annotation.templatetags.study_tabs import TABS, pages_beside, study_tabs
from tests.helpers.factories import make_study

pytestmark = pytest.mark.django_db
PAGES = [page for tab in TABS for page in tab.pages if not page.is_of_dataset]
CONSOLE = [page for page in PAGES if page.address != "ranking:leaderboard"]


def current(html):
    bar = re.search(r'<nav class="crumbs of-study".*?</nav>', html, re.DOTALL).group()
    return re.findall(r'aria-current="(\w+)">([^<]+)', bar)


class TestTabs:
    @pytest.mark.parametrize("page", CONSOLE, ids=lambda page: page.key)
    def test_mark_the_page_that_is_shown(self, admin_client, page):
        study = make_study()

        html = admin_client.get(reverse(page.address, args=[study.slug])).content.decode()

        assert ("page", str(page.label)) in current(html)

    @pytest.mark.parametrize("tab", TABS, ids=lambda tab: str(tab.label))
    def test_lead_to_a_page_that_is_there(self, admin_client, tab):
        study = make_study()

        shown = next(one for one in study_tabs(study) if one.label == tab.label)

        assert admin_client.get(shown.url).status_code == 200

    def test_mark_where_a_page_below_belongs(self):
        study = make_study()

        marks = [one.current for one in study_tabs(study, "raters", is_below=True)]

        assert marks.count("true") == 1
        assert pages_beside(study, "raters", is_below=True)[0].current == "true"

    def test_show_no_second_row_where_a_tab_has_one_page(self):
        assert pages_beside(make_study(), "planner") == []

    def test_have_keys_of_their_own(self):
        keys = [page.key for tab in TABS for page in tab.pages]

        assert len(set(keys)) == len(keys)


class TestAddresses:
    def test_below_the_console_that_are_not_a_study_are_no_slugs(self):
        words = set()
        for pattern in get_resolver().url_patterns:
            prefix = str(pattern.pattern)
            if not prefix.startswith("console/"):
                continue
            below = getattr(pattern, "url_patterns", [])
            routes = [prefix + str(one.pattern) for one in below] or [prefix]
            words |= {route.split("/")[1].removesuffix(".csv") for route in routes}

        fixed = {word for word in words if word and not word.startswith("<")}

        assert fixed <= TAKEN
