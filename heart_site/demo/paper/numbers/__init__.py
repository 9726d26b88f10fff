"""The statistics that the paper reports, one by one: printed, planted, and found.

*Printed* is what arXiv 2601.19922v2 prints; where its text leaves two readings, notes say so.
*Planted* is what an ideal study finds of what is planted (`expecting`). *Found* is what came out
of the platform, with its 95 % interval and the page that shows it.
"""

from heart_site.demo.paper.numbers import checked, judged, rated
from heart_site.demo.paper.numbers.number import COUNT, POINTS, SHARE, Beside, Number

TOPICS = (
    judged.size,
    judged.agreement,
    judged.judges,
    judged.people_and_models,
    rated.elo,
    rated.win_rates,
    rated.dimensions,
    rated.peoples_messages,
    judged.reasons,
    checked.strategies,
    checked.labels,
    rated.speed,
    rated.factors,
    rated.intervals,
    rated.recovery,
    checked.cheaters,
    checked.biases,
)


def every_number(beside: Beside) -> list[Number]:
    """Return all of them, in the order of the page."""
    return [number for topic in TOPICS for number in topic(beside)]


__all__ = ["COUNT", "POINTS", "SHARE", "Beside", "Number", "every_number"]
