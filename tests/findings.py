"""Findings of every kind of table and picture, for what shows and downloads them."""

from ranking.findings import Column, ColumnKind, Findings, Picture, Table

SYSTEM = Column("system", "System", ColumnKind.SYSTEM)


def make_findings(systems=("ash", "beech"), evaluators=(), **fields) -> Findings:
    """Findings with a heat map, intervals, points, lines, and a table of evaluators."""
    tables = (
        heat_map(systems),
        intervals(systems),
        points(systems),
        over_time(systems),
        around(systems),
        funnel(systems),
        of_evaluators(evaluators),
    )
    words = {"method": "By hand, for a test.", "warnings": ("Only a test.",)}
    return Findings(**words | {"tables": tables} | fields)


def heat_map(systems):
    columns = [Column(slug, slug, ColumnKind.SHARE) for slug in systems]
    rows = [
        (one, *(None if one == other else 0.25 + 0.5 * (one < other) for other in systems))
        for one in systems
    ]
    return _table("matrix", Picture.HEAT, SYSTEM, *columns, rows=rows)


def intervals(systems):
    ends = (Column(key, key, ColumnKind.ELO) for key in ("value", "low", "high"))
    rows = [(slug, -12.0, -40.0, 15.0) for slug in systems]
    return _table("differences", Picture.WHISKERS, SYSTEM, *ends, rows=rows)


def points(systems):
    axes = (Column(key, label, ColumnKind.SHARE) for key, label in (("x", "Told"), ("y", "Seen")))
    rows = [(slug, 0.1 * n, 0.1 * n + 0.05) for n, slug in enumerate(systems, start=1)]
    return _table("told-and-seen", Picture.POINTS, SYSTEM, *axes, rows=rows)


def over_time(systems):
    columns = [Column(slug, slug, ColumnKind.ELO) for slug in systems]
    rows = [(n, *(1500.0 + n * place for place in range(len(systems)))) for n in (10, 20, 30)]
    return _table(
        "growth", Picture.LINES, Column("x", "Judgments", ColumnKind.COUNT), *columns, rows=rows
    )


def around(systems):
    axes = (Column(key, key.upper(), ColumnKind.ELO, mark=1500.0) for key in ("h", "e", "a"))
    rows = [(slug, *(1500.0 + 10 * n * m for m in range(3))) for n, slug in enumerate(systems)]
    return _table("radar", Picture.RADAR, SYSTEM, *axes, rows=rows)


def funnel(systems):
    keys = ("y", "centre", "low", "high", "outer_low", "outer_high")
    columns = (Column(key, key, ColumnKind.SHARE) for key in keys)
    x = Column("x", "Judgments", ColumnKind.COUNT)
    rows = [
        (slug, 10 * n, 0.9, 0.5, *(0.5 + end / n for end in (-0.2, 0.2, -0.3, 0.3)))
        for n, slug in enumerate(systems, start=1)
    ]
    return _table("funnel", Picture.FUNNEL, SYSTEM, x, *columns, rows=rows)


def of_evaluators(evaluators):
    who = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
    rows = [(code, 0.5 + n / 100, f"note on {code}") for n, code in enumerate(evaluators)]
    weight = Column("reliability", "Reliability", ColumnKind.SHARE)
    return _table(
        "evaluators", Picture.NONE, who, weight, Column("note", "Note", ColumnKind.TEXT), rows=rows
    )


def _table(key, picture, *columns, rows):
    title = key.replace("-", " ").capitalize()
    return Table(key, title, f"How to read {key}.", columns, tuple(rows), picture)
