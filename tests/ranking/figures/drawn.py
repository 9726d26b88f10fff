"""Tables with a picture, and where figures of them come from."""

import datetime as dt
import html
import re
from dataclasses import replace
from xml.parsers.expat import ParserCreate

from annotation.models import Study
from completions.models import System
from ranking.boards import Board
from ranking.figures import Sign, board_drawing
from ranking.figures.marks import Words, box
from ranking.figures.rendering import alone
from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.models import Fit, HumanRating, Rating
from ranking.report.figures import caption_of, groups_of

SYSTEM = Column("system", "System", ColumnKind.SYSTEM)
CAPTION = "How to read it in a sentence, so that whoever finds the picture alone is not lost."
LONG = "A name of a system that is as long as the site allows, one hundred and twenty characters"
NAMES = (LONG, *(f"Northwind-Palimpsest {n} Instruct 70B (2026-05)" for n in range(19)))
AS_OF = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def make_sign(**fields):
    return replace(Sign("HEART, spring", "fit-3f9a2c", AS_OF, is_simulated=False), **fields)


def make_table(picture, columns, rows, title="A picture", caption=CAPTION):
    return Table("key", title, caption, tuple(columns), tuple(rows), picture)


def heat_map(names=NAMES, kind=ColumnKind.SHARE, value=lambda i, j: (3 * i + 5 * j) % 21 / 20):
    columns = [Column(f"c{n}", name, kind) for n, name in enumerate(names)]
    rows = [
        (name, *(None if i == j else value(i, j) for j in range(len(names))))
        for i, name in enumerate(names)
    ]
    return make_table(Picture.HEAT, [SYSTEM, *columns], rows)


def intervals(names=NAMES, kind=ColumnKind.ELO, middle=lambda i: 20.0 * i - 150.0, reach=30.0):
    ends = [Column(key, key.title(), kind) for key in ("value", "low", "high")]
    rows = [(name, m := middle(i), m - reach, m + reach) for i, name in enumerate(names)]
    return make_table(Picture.WHISKERS, [SYSTEM, *ends], rows)


def speeds(names=NAMES):
    columns = [
        Column("x", "Time, ms", is_logarithmic=True, mark=500),
        *(Column(key, key.title(), ColumnKind.ELO) for key in ("y", "low", "high")),
    ]
    rows = [
        (name, 90.0 * 1.3**i, y := 1400.0 + (37 * i) % 230, y - 25, y + 25)
        for i, name in enumerate(names)
    ]
    return make_table(Picture.POINTS, [SYSTEM, *columns], rows)


def calibration():
    columns = [
        *(Column(k, k.title(), ColumnKind.SHARE) for k in ("x", "y")),
        Column("n", "N", ColumnKind.COUNT),
    ]
    rows = [(0.5 + n / 20, 0.45 + n / 17, 100) for n in range(9)]
    return make_table(Picture.POINTS, columns, rows)


def over_time(names=NAMES):
    columns = [Column(f"c{n}", name, ColumnKind.ELO) for n, name in enumerate(names)]
    rows = [
        (100 * k, *(None if (n + k) % 9 == 0 else 1500.0 + 9 * n - k for n in range(len(names))))
        for k in range(1, 8)
    ]
    return make_table(Picture.LINES, [Column("x", "Judgments", ColumnKind.COUNT), *columns], rows)


def around(names=NAMES[:3], axes=("Alignment", "Responsiveness", "Attunement", "Resonance")):
    columns = [Column(f"a{n}", axis, ColumnKind.ELO, mark=1500.0) for n, axis in enumerate(axes)]
    rows = [
        (name, *(1480.0 + (23 * row + 31 * n) % 90 for n in range(len(axes))))
        for row, name in enumerate(names)
    ]
    return make_table(Picture.RADAR, [SYSTEM, *columns], rows)


def funnel(names=NAMES, outside=2):
    keys = ("y", "centre", "low", "high", "outer_low", "outer_high")
    columns = [Column("x", "Judgments", ColumnKind.COUNT)]
    columns += [Column(key, key.title(), ColumnKind.SHARE) for key in keys]
    rows = []
    for n, name in enumerate(names):
        x = 20 * (n + 1)
        half = x**-0.5
        far = 1.5 if n < outside else 0.4 * (-1) ** n
        ends = (0.7 - half, 0.7 + half, 0.7 - 1.6 * half, 0.7 + 1.6 * half)
        rows.append((name, x, 0.7 + far * half, 0.7, *ends))
    return make_table(Picture.FUNNEL, [SYSTEM, *columns], rows)


def draw_board(sign, names=NAMES, people=True):
    """The drawing of a leaderboard."""
    fit = Fit(study=Study(), pool="HUMAN", context_set="ALL", n_judgments=42000, n_units=280)
    rows = tuple(_row(place, name) for place, name in enumerate(names))
    ends = {"elo": 1480.0, "elo_low": 1460.0, "elo_high": 1500.0}
    derived = (HumanRating(kind="AVERAGE", **ends),) if people else ()
    board = Board(fit, rows, people=derived)
    return board_drawing(groups_of(board), caption_of(board), sign)


def _row(place, name):
    elo = 1700.0 - 20 * place
    return Rating(
        system=System(name=name),
        elo=elo,
        elo_low=elo - 20,
        elo_high=elo + 20,
        tier=1 + place // 6,
        joint_low=elo - 35,
        joint_high=elo + 35,
    )


def text_of(svg):
    """All text of an SVG file in its order, as one line."""
    ParserCreate().Parse(svg, True)
    found = re.findall(r"<text[^>]*>(.*?)</text>", svg.decode(), re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(" ".join(found)))


def words_of(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Words)]


def texts(drawing):
    return [words.text for words in words_of(drawing)]


def boxes_of(drawing):
    with alone():
        return {words: box(words) for words in words_of(drawing)}
