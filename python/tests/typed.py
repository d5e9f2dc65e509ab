"""What type checkers find of results: mypy --strict and pyright check this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import coalesce
import numpy as np
import numpy.typing as npt
from coalesce import linear_sum_assignment, solve_assignment, solve_auction, solve_csg, solve_qubo

if TYPE_CHECKING:
    from typing_extensions import assert_type

    c = np.zeros((3, 3))
    assert_type(solve_assignment(c).value, Optional[float])
    assert_type(solve_assignment([[1, 2], [3, 4]], k_best=2, pin=["assignment/classical:block=64"]).counts["passes"], float)
    batch = np.zeros((2, 3, 3))
    assert_type(solve_assignment(batch)[0].matched, int)
    assert_type(solve_assignment(c, supply=2).plan, npt.NDArray[np.int64])
    assert_type(solve_assignment(c, capacity=[1, 2]).proven, bool)
    assert_type(solve_auction([(1, "ab")]).nodes, int)
    assert_type(solve_csg([0, 1]).certificate["sum"], str)
    assert_type(solve_qubo(c, time_limit=1).work["flips"], int)
    assert_type(solve_qubo(c).time_to_target, Optional[float])
    assert_type(linear_sum_assignment(c), tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]])
    assert_type(coalesce.lapx.lapjv(c, cost_limit=1.0)[0], float)
    x, y = coalesce.lapx.lapjv(c, return_cost=False)
    shaped: npt.NDArray[np.float64] = c
    assert_type(linear_sum_assignment(shaped, tensors=True)[0], npt.NDArray[np.float64])  # of the kind that was given
    assert_type(solve_assignment(shaped).value, Optional[float])  # a matrix, where the type does not say how many dimensions
    assert_type(coalesce.__version__, str)
