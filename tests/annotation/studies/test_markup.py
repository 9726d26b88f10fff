"""Markdown of study files becomes HTML that can do no harm."""

import re

import pytest

from annotation.templatetags.markdown import render


class TestRender:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("One.\n\nTwo.", "<p>One.</p>\n<p>Two.</p>"),
            (
                "Read *both* and **decide**.",
                "<p>Read <em>both</em> and <strong>decide</strong>.</p>",
            ),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
            ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
            (r"5 \* 3", "<p>5 * 3</p>"),
            ("one\ntwo", "<p>one\ntwo</p>"),
            ("", ""),
        ],
        ids=["paragraphs", "emphasis", "list", "numbers", "escaped", "line end", "nothing"],
    )
    def test_knows_the_few_things_that_authors_need(self, text, html):
        assert render(text) == html

    @pytest.mark.parametrize(
        "text",
        [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,x)",
            "[x](http://example.org/)",
            "[x](//example.org/)",
            "[x](/s/other/withdraw/)",
            "<https://example.org/>",
            "`code` and ```\nfence\n```",
            "> quoted",
            "&lt;b&gt;",
        ],
    )
    def test_leaves_everything_else_as_it_was_typed(self, text):
        html = render(text)

        assert set(re.findall(r"<(\w+)", html)) <= {"p"}

    def test_links_to_https_alone_and_tells_the_other_site_nothing(self):
        link = '<a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">more</a>'

        assert render('[more](https://example.org/a?b=1&c=2 "title")') == f"<p>{link}</p>"

    def test_loads_no_picture(self):
        assert "<img" not in render("![x](https://example.org/x.png)")

    def test_quotes_in_an_address_do_not_end_the_attribute(self):
        assert 'onclick="' not in render('[x](https://example.org/"onclick="x)')

    @pytest.mark.parametrize(
        ("text", "top", "levels"),
        [
            ("# a\n\n## b\n\n# c", 2, "232"),
            ("### a\n\n##### b", 3, "34"),
            ("### a\n\n# b", 2, "22"),
            ("# a\n\n## b\n\n### c", 5, "566"),
        ],
        ids=["lowered", "no gap", "deep first", "no deeper than six"],
    )
    def test_headings_continue_the_outline_of_the_page(self, text, top, levels):
        html = render(text, top=top)

        assert "".join(re.findall(r"<h(\d)>", html)) == levels
        assert re.findall(r"<h(\d)>", html) == re.findall(r"</h(\d)>", html)
