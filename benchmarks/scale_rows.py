"""A study of many comparisons, some of which are judged and the others open."""

from dataclasses import replace

from annotation.choices import Purpose
from annotation.models import Comparison, Study
from benchmarks.refit_rows import N_EACH, Size, judge, pair, unchecked
from tests.helpers.factories import make_study

N_SYSTEMS = 30
PER_CONTEXT = 285  # comparisons: two in three pairs of systems


def fill_open(n_judgments: int, n_comparisons: int, *, n_raters: int) -> Study:
    """Make the study; each comparison has five judgments or none."""
    study = make_study(slug="bench", name="bench", judgments_per_pair=N_EACH)
    n_contexts = max(1, n_comparisons // PER_CONTEXT)
    planned = Size(n_contexts * PER_CONTEXT * N_EACH, N_SYSTEMS, n_contexts)
    given = replace(planned, n_judgments=min(n_judgments, planned.n_judgments), n_raters=n_raters)
    with unchecked():
        judge(pair(study, planned), given, with_marks=False)
        mains = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
        mains.filter(position__gt=given.n_judgments // N_EACH).update(slots_left=N_EACH)
    return study
