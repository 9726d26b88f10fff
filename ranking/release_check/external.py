"""Whether judgments made elsewhere are those that their lab sent."""

from collections import Counter
from collections.abc import Iterator

from ranking.release_check.bundle import Bundle, Row
from ranking.release_check.shapes import SCALES
from ranking.released.files.external import id_of
from ranking.released.files.tables import BY_NAME


def problems_of_external(bundle: Bundle) -> Iterator[str]:
    """Yield rows that are not what their ids say, or off the scale, and wrong numbers of rows."""
    path = BY_NAME["external_judgments"].path
    batches = bundle.by_key("external_batches")
    given, once = Counter[str](), Counter[tuple[str, str, str]]()
    for number, row in enumerate(bundle.tables["external_judgments"], start=1):
        given[row["batch"]] += 1
        once[row["batch"], row["comparison"], row["rater"]] += 1
        if id_of(row) != row["id"]:
            yield f"{path}: line {number}: {row['id']} is not the row of that id: it was changed"
        if not _is_on_scale(row, batches.get(row["batch"], {})):
            yield f"{path}: line {number}: verdict {row['verdict']} is off the scale"
    for (batch, comparison, rater), n in once.items():
        if n > 1:
            yield f"{path}: {batch} has {n} verdicts of {rater} on {comparison}"
    for name, batch_row in batches.items():
        if given[name] != batch_row["n_judgments"]:
            told = f"{given[name]} judgments, and n_judgments says {batch_row['n_judgments']}"
            yield f"{BY_NAME['external_batches'].path}: {name} has {told}"


def _is_on_scale(row: Row, batch: Row) -> bool:
    scale = SCALES.get(batch.get("protocol", ""))
    if scale is None:
        return row["verdict"] is None
    return row["verdict"] is not None and scale[0] <= row["verdict"] <= scale[1]
