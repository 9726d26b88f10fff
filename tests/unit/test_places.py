"""Help lines of the visitor's own country come first."""

from dataclasses import dataclass

import pytest

from annotation.places import countries_asked, order_lines


@dataclass(frozen=True)
class Line:
    name: str
    countries: tuple[str, ...] = ()


LINES = (
    Line("AU", ("AU",)),
    Line("anywhere"),
    Line("DE", ("DE",)),
    Line("GB", ("GB", "IE")),
    Line("emergency"),
)


class TestCountriesAsked:
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
        assert countries_asked(header) == countries


class TestOrderLines:
    @pytest.mark.parametrize(
        ("countries", "names"),
        [
            ((), ["anywhere", "emergency", "AU", "DE", "GB"]),
            (("DE",), ["DE", "anywhere", "emergency", "AU", "GB"]),
            (("IE", "DE"), ["GB", "DE", "anywhere", "emergency", "AU"]),
            (("FR",), ["anywhere", "emergency", "AU", "DE", "GB"]),
        ],
    )
    def test_puts_own_country_before_anywhere_before_the_rest(self, countries, names):
        assert [line.name for line in order_lines(LINES, countries)] == names

    def test_loses_no_line(self):
        assert set(order_lines(LINES, ("AU", "GB"))) == set(LINES)
