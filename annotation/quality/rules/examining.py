"""Hold every rule against every rater."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from annotation.quality.rules.checks import failed_checks
from annotation.quality.rules.records import Finding, RaterRecord, Rules
from annotation.quality.rules.times import anomalous_times, pace_of
from annotation.quality.rules.warnings import (
    Infit,
    PairAnswers,
    misfit,
    one_sided,
    outlier,
    straight_lining,
)


@dataclass(frozen=True)
class StudyRecord:
    """The raters of a study, the pairs that have all their answers, and the raters' infit."""

    records: Sequence[RaterRecord]
    pairs: Sequence[PairAnswers] = ()
    infits: Mapping[str, Infit | None] = field(default_factory=dict)


def examine(study: StudyRecord, rules: Rules) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of every rater, those that exclude first.

    The pace of the study is taken over all its raters, excluded ones too: a decision must not
    change the evidence on which the next one rests. Whoever a person took back is excluded on
    later evidence only; warnings look at all there is.
    """
    pace = pace_of(chain.from_iterable(record.answers for record in study.records), rules)
    pairs_of = defaultdict[str, list[PairAnswers]](list)
    for pair in study.pairs:
        for rater in pair.winners:
            pairs_of[rater].append(pair)
    found = {}
    for record in study.records:
        new = record.since_reinstated()
        all_rules = (
            failed_checks(new, rules),
            anomalous_times(new, pace, rules),
            straight_lining(record, rules),
            one_sided(record, rules),
            misfit(study.infits.get(record.rater), rules),
            outlier(record, pairs_of[record.rater], rules),
        )
        found[record.rater] = tuple(finding for finding in all_rules if finding is not None)
    return found
