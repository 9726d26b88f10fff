"""The rules of screening held against labels of readers, from a file to the table."""

import io

import pytest
from django.core.management import CommandError, call_command

from completions.contexts.screening import checking
from completions.contexts.screening.checking import LabelsError, ReaderLabel, Tally
from completions.contexts.screening.rules import DISQUALIFIERS, SIGNALS, Finding, Screened
from completions.dialogues.ingest.dialogue import ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues
from tests.helpers.datasets import native, write_array

HEAD = "dialogue,turn_index,signals,disqualifiers,qualifies,sure\n"
ONE = "0123456789abcdef"
TWO = "fedcba9876543210"


def label(turn=2, *, signals=(), disqualifiers=(), qualifies=True, sure=True, dialogue=ONE):
    return ReaderLabel(
        (dialogue, turn), frozenset(signals), frozenset(disqualifiers), qualifies, sure
    )


def screened(turn=2, *, signals=(), reasons=()):
    findings = tuple(Finding(name, turn, 0, 1) for name in (*signals, *reasons))
    return Screened(turn, findings, reasons, is_suitable=bool(signals) and not reasons)


def tallies(*pairs):
    """Compare pairs of a label and what the rules said, each at a turn of its own."""
    labels = [
        ReaderLabel((ONE, place), one.signals, one.disqualifiers, one.qualifies, one.sure)
        for place, (one, _) in enumerate(pairs)
    ]
    found = {(ONE, place): by_rules for place, (_, by_rules) in enumerate(pairs)}
    return {one.name: one for one in checking.compare(labels, found)}


@pytest.fixture
def labels_file(tmp_path):
    def write(text):
        path = tmp_path / "labels.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


class TestDraw:
    points = tuple((f"{k:064x}", turn) for k in range(40) for turn in (0, 2, 4))

    def test_follows_from_the_seed_alone_and_goes_on_after_an_earlier_one(self):
        drawn = checking.draw(self.points, n=12)

        assert checking.draw(reversed(self.points), n=12) == drawn
        assert checking.draw(self.points, n=12, seed=8) != drawn
        assert drawn == [
            *checking.draw(self.points, n=5),
            *checking.draw(self.points, n=7, after=5),
        ]

    def test_keeps_the_order_that_was_published(self):
        assert checking.draw([("a" * 64, 2), ("b" * 64, 4), ("c" * 64, 6)], n=3) == [
            ("c" * 64, 6), ("b" * 64, 4), ("a" * 64, 2)
        ]  # fmt: skip


class TestReadLabels:
    def test_reads_what_a_reader_found(self, labels_file):
        path = labels_file(f"{HEAD}{ONE},4,distress help,name-only platform,no,yes\n")

        assert checking.read_labels(path) == [
            label(
                4,
                signals=("distress", "help"),
                disqualifiers=("name-only", "platform"),
                qualifies=False,
            )
        ]

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("dialogue,turn\n", "labels.csv: the first line has to be dialogue,turn_index"),
            ("", "the first line has to be"),
            (f"{HEAD}{ONE},x,,,no,yes\n", "line 2: expected 16 characters of a content hash"),
            (f"{HEAD}0123,4,,,no,yes\n", "line 2: expected 16 characters"),
            (f"{HEAD}{ONE},4,joy,,no,yes\n", "line 2: unknown: joy"),
            (f"{HEAD}{ONE},4,,too-short,no,yes\n", "line 2: unknown: too-short"),
            (f"{HEAD}{ONE},4,,,maybe,yes\n", "line 2: expected yes or no, found 'maybe'"),
            (f"{HEAD}{ONE},4,,,no\n", "line 2: expected yes or no, found None"),
            (f"{HEAD}{ONE},4,,,no,yes\n{ONE},4,,,no,yes\n", "line 3: labelled already"),
        ],
    )
    def test_refuses_a_line_that_is_no_label(self, labels_file, text, error):
        with pytest.raises(LabelsError, match=error):
            checking.read_labels(labels_file(text))


class TestCompare:
    def test_counts_where_both_say_suitable_and_where_one_does(self):
        found = tallies(
            (label(qualifies=True), screened(signals=("distress",))),
            (label(qualifies=True), screened()),
            (label(qualifies=False), screened(signals=("help",))),
            (label(qualifies=False), screened()),
        )["suitable"]

        assert found == Tally("suitable", 1, rules_only=((ONE, 2),), readers_only=((ONE, 1),))
        assert (found.precision, found.recall) == ((1, 2), (1, 2))

    def test_counts_each_rule_that_readers_are_asked_about_and_sure_labels_apart(self):
        found = tallies(
            (label(sure=False), screened(signals=("help",))),
            (
                label(signals=("distress",), disqualifiers=("hate",)),
                screened(signals=("help",), reasons=("hate", "too-short")),
            ),
            (label(), screened(signals=("help",))),
        )

        assert (found["suitable"].both, found["suitable, sure"].both) == (2, 1)
        assert (found["any signal"].both, found["hate"].both) == (1, 1)
        assert found["distress"].readers_only == ((ONE, 1),)
        assert found["help"].rules_only == ((ONE, 0), (ONE, 1), (ONE, 2))
        on_form = {"too-early", "too-short", "too-long", "language"}
        asked = {*SIGNALS, *DISQUALIFIERS} - on_form
        assert set(found) == {"suitable", "suitable, sure", "any signal"} | asked


class TestWilson:
    @pytest.mark.parametrize(
        ("hits", "n", "low", "high"),
        [
            (8, 10, 0.490, 0.943),
            (0, 10, 0.0, 0.278),
            (10, 10, 0.722, 1.0),
            (50, 100, 0.404, 0.596),
            (0, 0, 0.0, 1.0),
        ],
    )
    def test_agrees_with_published_intervals(self, hits, n, low, high):
        assert checking.wilson(hits, n) == pytest.approx((low, high), abs=5e-4)


class TestReport:
    def test_prints_counts_intervals_and_where_they_differ(self):
        text = checking.report(
            [Tally("suitable", 8, ((ONE, 4), (TWO, 6)), ()), Tally("hate", 0, (), ())],
            n=20,
            rules="screening-1 x",
        )

        assert text.splitlines()[0].startswith("20 labelled couplets, rules screening-1 x")
        assert "0.80 (0.49-0.94) of 10" in text
        assert "1.00 (0.68-1.00) of 8" in text
        assert f"suitable, rules only: {ONE}:4 {TWO}:6" in text
        assert "none" in next(line for line in text.splitlines() if line.startswith("hate"))


class TestTheLabels:
    @pytest.mark.parametrize(
        "path", sorted(checking.LABELS.glob("*.csv")), ids=lambda one: one.stem
    )
    def test_are_a_hundred_couplets_by_index_only(self, path):
        assert len(checking.read_labels(path)) == 100
        assert max(len(line) for line in path.read_text().splitlines()) <= 120


DIALOGUE = [
    ("seeker", "Hello, I have never done this."),
    ("supporter", "Welcome. What happened?"),
    ("seeker", "My sister moved out in May and I feel so lonely in that big flat of ours."),
    ("supporter", "That sounds quiet."),
    ("seeker", "It is, and every evening I lay two plates and then put one away."),
    ("supporter", "One plate too many."),
]


@pytest.fixture
def dialogues(tmp_path):
    return write_array(tmp_path / "dialogues.json", [native(*DIALOGUE, situation="A move.")])


@pytest.fixture
def dialogue(dialogues):
    (one,) = read_dialogues(dialogues)
    assert isinstance(one, ParsedDialogue)
    return one.content_hash[: checking.PREFIX]


def check(*arguments):
    out = io.StringIO()
    call_command("contexts", "check-screening", *map(str, arguments), stdout=out)
    return out.getvalue()


class TestCheckScreening:
    def test_prints_precision_recall_and_disagreements_without_any_text(
        self, dialogues, dialogue, labels_file
    ):
        lines = f"{dialogue},2,distress,,yes,yes\n{dialogue},4,distress,,yes,no\n"

        printed = check("--dialogues", dialogues, "--file", labels_file(HEAD + lines))

        assert "suitable            1      0       1  1.00 (0.21-1.00) of 1" in printed
        assert f"suitable, reader only: {dialogue}:4" in printed
        assert "lonely" not in printed

    def test_draws_a_sample_by_index(self, dialogues, dialogue):
        drawn = check("--dialogues", dialogues, "--draw", 2).split()
        rest = check("--dialogues", dialogues, "--draw", 2, "--after", 2).split()

        assert sorted(drawn + rest) == [f"{dialogue}:{turn}" for turn in (0, 2, 4)]

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            (("--file", "labels.csv"), "1 of 1 labelled couplets are not in the dialogues"),
            (("--file", "none.csv"), "cannot be read"),
            (("--draw", "2", "--after=-1"), "after"),
            (("--draw", "2", "--after=x"), "after"),
        ],
        ids=["labels of other dialogues", "no file", "before the first", "no number"],
    )
    def test_refuses_what_cannot_be(self, dialogues, labels_file, monkeypatch, asked, said):
        monkeypatch.chdir(labels_file(f"{HEAD}{'0' * 16},2,,,no,yes\n").parent)

        with pytest.raises(CommandError, match=said):
            check("--dialogues", dialogues, *asked)
