"""The same ranking for each value of a column."""

from ranking.files.judgments import FileJudgments
from ranking.files.ratings.choosing import RatingRefusedError
from ranking.files.ratings.options import Options
from ranking.files.ratings.rating import Rated, rate


def rate_by(judgments: FileJudgments, options: Options) -> dict[str, Rated]:
    """Rate the systems once for each value of the column to rank by, in its order.

    A value whose judgments do not connect its systems comes with groups instead of rows.

    Raises
    ------
    RatingRefusedError
        If the judgments do not have what the options ask for.
    """
    group = judgments.group
    if group is None:
        return {}
    found = {}
    for index, value in enumerate(group.values):
        part = judgments.where(group.codes == index)
        try:
            found[value] = rate(part, options)
        except RatingRefusedError as error:
            msg = f"{value}: {error}"
            raise RatingRefusedError(msg) from error
    return found
