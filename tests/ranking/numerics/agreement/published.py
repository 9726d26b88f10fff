"""Data whose agreement was published."""

import numpy as np

# Four observers, twelve units, five values, 0 where a judgment is missing. Krippendorff (2011),
# Computing Krippendorff's Alpha-Reliability, section C: nominal .743, ordinal .815, interval
# .849. Gwet (2014), Handbook of Inter-Rater Reliability, gives AC1 .775 for the same data.
OBSERVED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)

# Thirty patients, six psychiatrists each, five diagnoses. Fleiss (1971), Psychol. Bull. 76,
# table 1: kappa .430.
DIAGNOSES = np.array(
    [
        [0, 0, 0, 6, 0],
        [0, 3, 0, 0, 3],
        [0, 1, 4, 0, 1],
        [0, 0, 0, 0, 6],
        [0, 3, 0, 3, 0],
        [2, 0, 4, 0, 0],
        [0, 0, 4, 0, 2],
        [2, 0, 3, 1, 0],
        [2, 0, 0, 4, 0],
        [0, 0, 0, 0, 6],
        [1, 0, 0, 5, 0],
        [1, 1, 0, 4, 0],
        [0, 3, 3, 0, 0],
        [1, 0, 0, 5, 0],
        [0, 2, 0, 3, 1],
        [0, 0, 5, 0, 1],
        [3, 0, 0, 1, 2],
        [5, 1, 0, 0, 0],
        [0, 2, 0, 4, 0],
        [1, 0, 2, 0, 3],
        [0, 0, 0, 0, 6],
        [0, 1, 0, 5, 0],
        [0, 2, 0, 1, 3],
        [2, 0, 0, 4, 0],
        [1, 0, 0, 4, 1],
        [0, 5, 0, 1, 0],
        [4, 0, 0, 0, 2],
        [0, 2, 0, 4, 0],
        [1, 0, 5, 0, 0],
        [0, 0, 0, 0, 6],
    ]
)

# Two psychiatrists, three diagnoses, 200 patients. Cohen (1960), Educ. Psychol. Meas. 20,
# table 1: kappa .492.
TWO_RATERS = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
