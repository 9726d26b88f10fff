"""How large the simulated study is: as the paper has it, or in a minute."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """How large the study is."""

    regular: int
    adversarial: int
    pairs_per_context: int
    judgments_per_pair: int
    raters: int
    session: int
    rationales: int
    checked: int
    ideal_contexts: int


FULL = Size(
    regular=280,
    adversarial=20,
    pairs_per_context=28,
    judgments_per_pair=5,
    raters=350,
    session=200,
    rationales=3000,
    checked=300,
    ideal_contexts=4000,
)
SMALL = Size(
    regular=10,
    adversarial=4,
    pairs_per_context=19,
    judgments_per_pair=3,
    raters=24,
    session=40,
    rationales=60,
    checked=30,
    ideal_contexts=60,
)
SIZES = {"full": FULL, "small": SMALL}
