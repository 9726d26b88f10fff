"""Help lines of the visitor's own country come first."""

import pytest

from annotation.session.blinded import requested_countries, split_lines
from completions.writers.guidelines import HelpLine


def line(name: str, *countries: str) -> HelpLine:
    return HelpLine(place="", name=name, countries=countries)


LINES = (
    line("AU", "AU"),
    line("anywhere"),
    line("DE", "DE"),
    line("GB", "GB", "IE"),
    line("emergency"),
)


class TestRequestedCountries:
    @pytest.mark.parametrize(
        ("header", "countries"),
        [
            ("", ()),
            ("en", ()),
            ("*", ()),
            ("en-GB", ("GB",)),
            ("de-CH,de;q=0.9,en-gb;q=0.5", ("CH", "GB")),
            ("zh-Hant-TW, en-US;q=0.7", ("TW", "US")),
            ("en-US,en-US", ("US",)),
            ("es-419", ()),
            ("english-GB, 12-DE, -FR", ()),
            ("de-DEU", ()),
            ("x" * 500 + ",en-GB", ()),
        ],
    )
    def test_are_those_that_the_browser_names_in_its_order(self, header, countries):
        assert requested_countries(header) == countries


class TestSplitLines:
    @pytest.mark.parametrize(
        ("countries", "near", "others"),
        [
            ((), "anywhere emergency AU DE GB", ""),
            (("FR",), "anywhere emergency AU DE GB", ""),
            (("DE",), "DE anywhere emergency", "AU GB"),
            (("IE", "DE"), "GB DE anywhere emergency", "AU"),
            (("FR", "AU"), "AU anywhere emergency", "DE GB"),
        ],
    )
    def test_puts_own_country_before_anywhere_and_folds_the_rest(self, countries, near, others):
        shown, folded = split_lines(LINES, countries)

        assert " ".join(line.name for line in shown) == near
        assert " ".join(line.name for line in folded) == others

    def test_loses_no_line(self):
        shown, folded = split_lines(LINES, ("AU", "GB"))

        assert sorted(line.name for line in shown + folded) == sorted(line.name for line in LINES)
