"""Small matrices and batches: coalesce beside SciPy, lapx and lapjv in one process, on one core.

Processor time of each call, the median of interleaved rounds. scripts/assignment-small runs it.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import time

import coalesce
import lap
import lapjv
import numpy as np
import scipy.optimize

SIZES = [2, 3, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000]
WIDE = [(30, 120), (30, 300), (10, 1000), (50, 200), (100, 400), (200, 2000), (100, 10000)]


def matrix(kind, rows, cols, dtype, rng):
    """Costs of a kind: in [0, 1), or nearly all 1, or mostly forbidden; integers are a million times that."""
    if kind == "uniform":
        costs = rng.random((rows, cols))
    elif kind == "plane":
        a, b = rng.random((rows, 2)), rng.random((cols, 2))
        costs = np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1])
    else:
        costs = np.full((rows, cols), 1.0 if kind == "tracker" else np.inf)
        n = (3 if kind == "tracker" else 8) * rows
        costs[rng.integers(0, rows, n), rng.integers(0, cols, n)] = rng.random(n)
        diagonal = np.arange(min(rows, cols))
        costs[rng.permutation(rows)[: len(diagonal)], rng.permutation(cols)[: len(diagonal)]] = 0.3 * rng.random(len(diagonal))
    if dtype == "int32":
        costs = np.floor(costs * 1e6)
    return np.ascontiguousarray(costs.astype(dtype))


def calls(costs):
    """The functions that solve a matrix, or each matrix of a list, by name."""
    many = not isinstance(costs, np.ndarray) or costs.ndim == 3
    square = many and all(c.shape[0] == c.shape[1] for c in costs) or not many and costs.shape[0] == costs.shape[1]
    more = {} if square else {"extend_cost": True}
    one = {"SciPy": scipy.optimize.linear_sum_assignment}
    for name in ("lapjvr", "lapjvh", "lapjv", "lapjvx", "lapjvs"):
        one["lapx " + name] = lambda c, f=getattr(lap, name): f(c, **more)
    one["lapx lapjvc"] = lap.lapjvc
    if square and (costs[0] if many else costs).dtype.kind == "f":
        one["lapjv"] = lapjv.lapjv
    if not many:
        return {"coalesce": lambda: coalesce.linear_sum_assignment(costs), **{name: lambda f=f: f(costs) for name, f in one.items()}}
    found = {"coalesce": lambda: coalesce.linear_sum_assignment(costs)}
    found.update({name: lambda f=f: [f(c) for c in costs] for name, f in one.items()})
    if isinstance(costs, np.ndarray):
        for name in ("lapjvr_batch", "lapjvh_batch", "lapjvx_batch"):
            found["lapx " + name] = lambda f=getattr(lap, name): f(costs, n_threads=1, **more)
    return found


def spent(call, times):
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def race(functions):
    """Medians in seconds; functions that fail are left out, and those that take 12 times as long as ours, but for the fastest peer."""
    functions["coalesce"]()
    ours = spent(functions["coalesce"], 1)
    ours = spent(functions["coalesce"], max(1, int(2e-3 / max(ours, 1e-7))))
    first = {}
    for name, call in functions.items():
        try:
            first[name] = spent(call, 1)
        except Exception:  # a peer that does not take the matrix
            continue
    fastest = min((name for name in first if name != "coalesce"), key=first.get)
    left = {name: functions[name] for name in first if name in ("coalesce", fastest) or first[name] < 12 * ours + 1e-3}
    times = max(1, int(1e-3 / ours))
    rounds = 9 if ours < 0.005 else 3
    taken = {name: [] for name in left}
    for _ in range(rounds):
        for name, call in left.items():
            taken[name].append(spent(call, times))
    return {name: statistics.median(list) for name, list in taken.items()}


def row(kind, dtype, rows, cols, batch, costs):
    taken = race(calls(costs))
    ours = taken.pop("coalesce")
    peer = min(taken, key=taken.get)
    ratio = taken[peer] / ours
    print(f"{kind:10} {dtype:8} {batch or ''} {rows}x{cols}: {ours * 1e6:.2f} us, {peer} {taken[peer] * 1e6:.2f}, ratio {ratio:.2f}", flush=True)
    return {"kind": kind, "type": dtype, "batch": batch, "rows": rows, "cols": cols, "took": ours, "peer": peer, "peer_took": taken[peer]}


def shares(path):
    """The certificate's share of the time by kind, type, rows and columns, of what BenchmarkCertificate printed."""
    found = {}
    for line in open(path) if path else ():
        words = line.split()
        if line.startswith("BenchmarkCertificate/") and words[-1] == "share":
            _, kind, dtype, shape = words[0].split("/")
            found[kind, dtype, *map(int, shape.partition("-")[0].split("x"))] = float(words[-2])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="assignment-small.json")
    parser.add_argument("--shares", help="what BenchmarkCertificate of solvers/assignment/internal/paths printed")
    parser.add_argument("--most", type=int, default=5000, help="largest number of rows")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(1)
    found = []
    for kind, dtype in [("uniform", "float64"), ("plane", "float64"), ("uniform", "float32"), ("uniform", "int32"),
                        ("tracker", "float64"), ("tracker", "int32"), ("forbidden", "float64")]:
        for n in SIZES:
            if n <= options.most and (kind, n) not in [("plane", 5000), ("forbidden", 2)]:
                found.append(row(kind, dtype, n, n, 0, matrix(kind, n, n, dtype, rng)))
    for a, b in WIDE:
        for rows, cols in ((a, b), (b, a)):
            for dtype in ("float64", "float32"):
                found.append(row("uniform", dtype, rows, cols, 0, matrix("uniform", rows, cols, dtype, rng)))
    for batch, n in ((1000, 20), (100, 100), (4096, 8)):
        found.append(row("uniform", "float64", n, n, batch, rng.random((batch, n, n))))
    found.append(row("uniform", "float64", 20, 30, 1000, rng.random((1000, 20, 30))))
    share = shares(options.shares)
    for r in found:
        part = share.get((r["kind"], r["type"], r["rows"], r["cols"]))
        if part is not None:
            r["certificate"] = part
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    device = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    with open(options.out, "w") as file:
        json.dump({"experiment": "small", "device": device + ", 1 core", "driver": "", "commit": commit, "command": f"scripts/assignment-small --most {options.most}",
                   "date": datetime.date.today().isoformat(), "rows": found}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
