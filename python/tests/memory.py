"""Memory of 100,000 calls of each kind: python python/tests/memory.py [FILE]

Prints a JSON object, and writes it to FILE: for each kind the resident bytes after a tenth as many calls, after all, and their growth.
"""

import json
import platform
import resource
import sys
from typing import Any, Callable

import numpy as np
import scipy.sparse

import coalesce
from coalesce import lapx

CALLS = 100_000


def held() -> int:
    """The resident memory in bytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def refused() -> None:
    try:
        coalesce.linear_sum_assignment(np.full((2, 2), np.inf))
    except ValueError:
        pass


def main() -> None:
    rng = np.random.default_rng(9)
    a, batch, whole, masses = rng.random((8, 8)), rng.random((4, 6, 6)), rng.integers(0, 3, (8, 8)), rng.dirichlet(np.ones(8))
    sparse = scipy.sparse.csr_array(np.where(np.eye(8) + rng.random((8, 8)) > 0.7, a + 0.1, 0))
    kinds: dict[str, Callable[[], Any]] = {
        "linear_sum_assignment": lambda: coalesce.linear_sum_assignment(a),
        "a batch": lambda: coalesce.linear_sum_assignment(batch),
        "infeasible": refused,
        "a list": lambda: coalesce.linear_sum_assignment([[1, 2], [1, 3]]),
        "solve_assignment": lambda: coalesce.solve_assignment(a),
        "solve_assignment, limit": lambda: coalesce.solve_assignment(a, limit=0.2),
        "solve_assignment, sparse": lambda: coalesce.solve_assignment(sparse),
        "lapx.lapjv, cost_limit": lambda: lapx.lapjv(a, cost_limit=0.2),
        "linear_sum_assignment, SciPy's ties": lambda: coalesce.linear_sum_assignment(whole, ties="scipy"),
        "solve_assignment, k_best": lambda: coalesce.solve_assignment(a, k_best=3),
        "solve_assignment, a job": lambda: coalesce.solve_assignment(a, time_limit=100),
        "solve_assignment, a batch": lambda: coalesce.solve_assignment(batch),
        "solve_assignment, supply": lambda: coalesce.solve_assignment(a, supply=2, capacity=3),
        "emd": lambda: coalesce.emd(masses, masses[::-1], a),
        "solve_qubo, a job": lambda: coalesce.solve_qubo({("a", "a"): -2, ("a", "b"): 3}, time_limit=100),
        "solve_qubo": lambda: coalesce.solve_qubo({("a", "a"): -2, ("a", "b"): 3}),
        "solve_csg": lambda: coalesce.solve_csg([0, 3, 4, 9]),
        "solve_auction": lambda: coalesce.solve_auction([(1, ["x"]), (2, ["x", "y"])]),
    }
    found: dict[str, Any] = {"calls": CALLS, "python": platform.python_version(), "machine": platform.machine(), "kinds": {}}
    for name, call in kinds.items():
        for _ in range(CALLS // 10):
            call()
        before = held()
        for _ in range(CALLS):
            call()
        found["kinds"][name] = {"before": before, "after": held(), "growth": held() - before}
    text = json.dumps(found, indent=1)
    print(text)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as f:
            f.write(text + "\n")


if __name__ == "__main__":
    main()
