"""Processor time of a call of linear_sum_assignment, SciPy's and ours, by ctypes too, and of solve_assignment: python python/tests/overhead.py

Uniform float64 costs on the host; the least of many rounds and their median, in microseconds, by turns.
"""

import statistics
import time

import numpy as np
import scipy.optimize

import coalesce
from coalesce._assignment import by_ctypes


def main() -> None:
    functions = {"SciPy": scipy.optimize.linear_sum_assignment, "Coalesce": coalesce.linear_sum_assignment, "ctypes": by_ctypes,
                 "solve_assignment": lambda a: coalesce.solve_assignment(a, device="host")}
    print("n", *functions)
    for n in (3, 5, 10, 20, 50, 100, 200, 300, 350, 1000):
        a = np.random.default_rng(1).random((n, n))
        times: dict[str, list[float]] = {name: [] for name in functions}
        calls = max(1, 20000 // n ** 2)
        for _ in range(30 if n <= 400 else 5):
            for name, function in functions.items():
                began = time.process_time()
                for _ in range(calls):
                    function(a)
                times[name].append((time.process_time() - began) / calls)
        print(n, *(f"{1e6 * min(t):.2f} ({1e6 * statistics.median(t):.2f})" for t in times.values()), flush=True)


if __name__ == "__main__":
    main()
