"""Names for the array types that the estimators take and return."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.signedinteger[Any]]
"""Places from 0, in four bytes where there are millions of them, else in eight."""
