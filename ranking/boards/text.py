"""A leaderboard as lines of text for a terminal."""

from ranking.boards.board import Board, BoardRow, PeopleRow

CAUTION = "Scores say how supportive short replies were perceived to be; they certify no safety."
SIMULATED = "Some systems, judges or dialogues are simulated: scores say nothing of real ones."

IMPLIED = (
    "Nobody compared messages: pairs are implied by points that one evaluator gave two of them."
)


def as_text(board: Board) -> str:
    """Write the board, its conditions first."""
    terms = board.conditions
    lines = [
        f"{board.title} ({board.study}): {terms.pool}, {terms.context_set.lower()}",
        f"{terms.n_judgments} judgments on {terms.n_dialogues} source dialogues, fit {board.key}",
        CAUTION,
    ]
    if terms.is_simulated:
        lines.append(SIMULATED)
    if board.is_implied:
        lines.append(IMPLIED)
    lines.append("")
    return "\n".join([*lines, *_table(board), *_people(board), *terms.warnings])


def _table(board: Board) -> list[str]:
    if board.refusal:
        return [board.refusal, *(f"  {', '.join(group)}" for group in board.components)]
    width = max(len(_label(row)) for row in board.rows)
    heads = ["   Rank", f"{'System':<{width}}", "  Elo", "95 % interval", "Win %"]
    heads += [f"{dimension.key:>4}" for dimension in board.dimensions]
    return ["  ".join(heads), *(_line(row, width) for row in board.rows)]


def _line(row: BoardRow, width: int) -> str:
    interval = f"{row.elo_low:.0f} to {row.elo_high:.0f}"
    cells = [
        f"{row.rank_text:>7}",
        f"{_label(row):<{width}}",
        f"{row.elo:>5.0f}",
        f"{interval:>13}",
        f"{row.win_rate:>5.1f}",
    ]
    shares = (share.per_cent for share in row.dimensions)
    cells += [f"{'-' if share is None else f'{share:.0f}':>4}" for share in shares]
    return "  ".join(cells)


def _people(board: Board) -> list[str]:
    """Write the rows made from people, which have no rank, under their own line."""
    lines = [*map(_people_line, board.people)]
    lines += [f"  {one.name}: {one.reason}" for one in board.people_refused]
    return ["", "Made from people, no systems of their own:", *lines, ""] if lines else []


def _people_line(row: PeopleRow) -> str:
    caution = ", too high: chosen and scored by the same judgments" if row.is_optimistic else ""
    return f"  {row.name}: {row.elo:.0f} ({row.elo_low:.0f} to {row.elo_high:.0f}){caution}"


def _label(row: BoardRow) -> str:
    """Return the name with what it is; a simulated system's name says so by itself."""
    kinds = {"HUMAN": "people", "ORIGINAL": "original"}
    return f"{row.name} ({kinds[row.kind]})" if row.kind in kinds else row.name
