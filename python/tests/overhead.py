"""Seconds of a call of linear_sum_assignment, SciPy's and ours, and of solve_assignment: python python/tests/overhead.py

Uniform float64 costs on the host; the best of many rounds and their median, in microseconds, by turns.
"""

import statistics
import time

import numpy as np
import scipy.optimize

import coalesce


def main() -> None:
    functions = {"SciPy": scipy.optimize.linear_sum_assignment, "Coalesce": coalesce.linear_sum_assignment,
                 "solve_assignment": lambda a: coalesce.solve_assignment(a, device="host")}
    print("n", *functions)
    for n in (3, 10, 30, 100, 200, 300, 350, 1000):
        a = np.random.default_rng(1).random((n, n))
        times: dict[str, list[float]] = {name: [] for name in functions}
        calls = max(1, 3000 // n ** 2)
        for _ in range(60 if n <= 400 else 5):
            for name, function in functions.items():
                began = time.perf_counter()
                for _ in range(calls):
                    function(a)
                times[name].append((time.perf_counter() - began) / calls)
        print(n, *(f"{1e6 * min(t):.1f} ({1e6 * statistics.median(t):.1f})" for t in times.values()), flush=True)


if __name__ == "__main__":
    main()
