"""The file that the benchmark of the prompt writes."""

import numpy as np

from benchmarks import prompt
from ranking.files.judgments import ReadOptions, read_judgments


def test_it_is_a_file_of_judgments_with_strengths_and_ties(tmp_path):
    path = tmp_path / "judgments.csv"

    prompt.write_judgments(path, 500, np.random.default_rng(1))

    judgments = read_judgments(path, ReadOptions(required=("rater_id",)))
    assert judgments.n_judgments == 500
    assert set(judgments.verdict) == {-1, 0, 1}
    assert ((judgments.size > 0) == (judgments.verdict != 0)).all()
