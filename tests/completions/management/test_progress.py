"""Progress of long work: a bar on a terminal, plain lines in a log, nothing on standard output."""

import io

import pytest
from django.core.management.base import OutputWrapper

from completions.management.acting import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def progress(log):
    return Progress(OutputWrapper(log))


class TestOver:
    def test_passes_the_items_on(self, progress):
        assert list(progress.over("abc", of="letters")) == ["a", "b", "c"]

    def test_writes_a_line_for_each_tenth(self, progress, log):
        list(progress.over(range(40), of="dialogues"))

        lines = log.getvalue().splitlines()
        assert (lines[0], lines[-1], len(lines)) == ("4 of 40 dialogues", "40 of 40 dialogues", 10)

    def test_ends_with_the_full_count(self, progress, log):
        list(progress.over(range(13), of="dialogues"))

        assert log.getvalue().splitlines()[-1] == "13 of 13 dialogues"

    def test_counts_what_has_no_known_number(self, progress, log):
        list(progress.over(iter(range(2_300)), of="lines"))

        assert log.getvalue() == "1,000 lines\n2,000 lines\n2,300 lines\n"

    def test_draws_a_bar_on_a_terminal(self):
        terminal = Terminal()

        list(Progress(OutputWrapper(terminal)).over(range(3), of="dialogues"))

        assert "dialogues" in terminal.getvalue()
        assert "\r" in terminal.getvalue()


class TestTowards:
    def test_writes_a_line_for_each_tenth(self, progress, log):
        with progress.towards("opinions") as tell:
            for n in range(101):
                tell(n, 100)

        lines = log.getvalue().splitlines()
        assert (lines[0], lines[-1], len(lines)) == (
            "10 of 100 opinions",
            "100 of 100 opinions",
            10,
        )

    def test_says_nothing_twice(self, progress, log):
        with progress.towards("opinions") as tell:
            tell(2, 2)
            tell(2, 2)

        assert log.getvalue() == "2 of 2 opinions\n"

    def test_draws_a_bar_on_a_terminal(self):
        terminal = Terminal()

        with Progress(OutputWrapper(terminal)).towards("opinions") as tell:
            tell(1, 3)

        assert "1/3" in terminal.getvalue()


def test_a_remark_is_a_line_of_its_own(progress, log):
    progress.say("Dropped: a reason")

    assert log.getvalue() == "Dropped: a reason\n"
