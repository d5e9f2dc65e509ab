"""Random transportation problems against HiGHS.

    python bench/assignment/flows.py [--count 10000] [--seed 1]

Integer and real costs, forbidden pairs, unequal and equal totals, up to 12 x 12. coalesce and HiGHS (scipy.optimize.linprog) agree on which are infeasible
and, to 1e-9 of the value, on the optimum. Needs coalesce, numpy and scipy.
"""
import argparse

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

import coalesce

p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("--count", type=int, default=10000)
p.add_argument("--seed", type=int, default=1)
o = p.parse_args()
rng = np.random.default_rng(o.seed)
infeasible = 0
for trial in range(o.count):
    n, m = rng.integers(1, 13, 2)
    costs = rng.integers(-20, 10 ** rng.integers(1, 7), (n, m)).astype(float) if trial % 2 else rng.normal(size=(n, m)) * 10 ** rng.uniform(-3, 3)
    costs[rng.random((n, m)) < rng.choice([0, 0.2, 0.6])] = np.inf
    supply, capacity = rng.integers(0, 20, n), rng.integers(0, 20, m)
    if trial % 3 == 0:  # equal totals
        capacity[-1] += max(0, supply.sum() - capacity.sum())
        supply[-1] += max(0, capacity.sum() - supply.sum())
    i, j = np.nonzero(np.isfinite(costs))
    pairs = np.arange(len(i))
    by_row, by_col = (coo_array((np.ones(len(i)), (at, pairs)), shape=(size, len(i))).tocsr() for at, size in ((i, n), (j, m)))
    less = supply.sum() <= capacity.sum()
    if len(i):
        equal, most = (by_row, by_col) if less else (by_col, by_row)
        be, bm = (supply, capacity) if less else (capacity, supply)
        want = linprog(costs[i, j], A_ub=most, b_ub=bm, A_eq=equal, b_eq=be, method="highs")
        value = want.fun if want.status == 0 else None
        assert want.status in (0, 2), (trial, want)
    else:
        value = 0.0 if min(supply.sum(), capacity.sum()) == 0 else None
    try:
        found = coalesce.solve_assignment(costs, supply=supply, capacity=capacity)
        assert found.proven, trial
        ours = float((found.amounts * costs[found.rows, found.cols]).sum())
    except coalesce.InfeasibleError:
        ours = None
    infeasible += value is None
    scale = max(1e-9, float(np.abs(costs[i, j]).max(initial=0)) * max(1, supply.sum()))
    assert (ours is None) == (value is None) and (value is None or abs(ours - value) <= 1e-9 * scale), (trial, ours, value)
print(f"{o.count} problems agree, {infeasible} of them infeasible")
