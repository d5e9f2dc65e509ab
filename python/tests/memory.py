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
    a, batch = rng.random((8, 8)), rng.random((4, 6, 6))
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
