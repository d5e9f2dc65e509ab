"""Costs with long shortest paths or many ties on a processor: coalesce beside SciPy, lapx and POT.

    python bench/assignment/hosts.py [--rows 4000] [--kinds NAME,...] [--budget 460] [--json FILE]

The kinds are those of `-experiment degenerate`. Each call runs in a process of its own; seconds are processor time of all its threads and the clock. A peer is
ended by the processor time of coalesce and a half, and one second: its entry is the limit then, with "ended". The costs of all answers are equal.
Needs coalesce, numpy, scipy, lapx and POT.
"""
import argparse
import json
import os
import pickle
import platform
import resource
import signal
import time

import lap
import numpy as np
import ot
import scipy
from scipy.optimize import linear_sum_assignment

import coalesce

p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("--rows", type=int, default=4000)
p.add_argument("--kinds", default="")
p.add_argument("--peers", default="SciPy,lapjv,lapjvh,lapjvr,POT")
p.add_argument("--budget", type=float, default=460, help="seconds after which no other kind begins")
p.add_argument("--commit", default="")
p.add_argument("--json")
o = p.parse_args()
n = o.rows


def device():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def distances(x, y, scale=1.0, integer=False):
    d = np.empty((n, n), np.int32 if integer else np.float64)
    for i in range(n):
        d[i] = scale * np.hypot(x[i, 0] - y[:, 0], x[i, 1] - y[:, 1])
    return d


def clusters(rng, first, second):
    at = np.select([(u := rng.random(n)) < first, u < second], [0.0, 100.0], 250.0)
    return at[:, None] + rng.random((n, 2))


def line(rng, width):
    return np.stack([width * (rng.random(n) < 0.5) + rng.random(n), np.zeros(n)], 1)


def lattice(turn):
    side = int(np.ceil(np.sqrt(n))) + turn
    return np.stack([np.arange(n) % side, np.arange(n) // side], 1).astype(float)


def grid():
    side = int(np.sqrt(n * 5 / 4))
    return np.stack([(np.arange(n) % side) / side, (np.arange(n) // side) / ((n + side - 1) // side)], 1)


def unequal(rng, scale=1.0, integer=False):
    return distances(clusters(rng, 0.5, 0.8), clusters(rng, 0.3, 0.6), scale, integer)


def monge(rng):
    return (rng.permutation(n).astype(np.int32)[:, None] - rng.permutation(n).astype(np.int32)[None]) ** 2


def blocks(rng):
    level = rng.integers(0, 1000, (60, 60))
    return level[rng.permutation(n)[:, None] * 60 // n, rng.permutation(n)[None] * 60 // n]


def sorted_columns(rng):
    costs, tilt = np.empty((n, n), np.int32), 0.5 + rng.random(n)
    for i in range(n):
        costs[i] = 1e6 * ((i + rng.random(n)) / n) ** tilt
    return costs


KINDS = {
    "uniform": ("int32", lambda r: r.integers(0, 10**6, (n, n), np.int32)),
    "uniform to n": ("int32", lambda r: r.integers(0, n, (n, n), np.int32)),
    "uniform float32": ("float32", lambda r: r.random((n, n), np.float32)),
    "sorted rows": ("int32", lambda r: np.sort(r.integers(0, 10**6, (n, n), np.int32), 1)),
    "unequal clusters float32": ("float32", unequal),
    "unequal clusters int32": ("int32", lambda r: unequal(r, 1e6, True)),
    "unequal clusters float64": ("float64", unequal),
    "two far clusters": ("float32", lambda r: distances(line(r, 1e6), line(r, 1e6))),
    "lines": ("float64", lambda r: distances(line(r, 0), line(r, 0))),
    "grid to points": ("int32", lambda r: distances(grid(), r.random((n, 2)), 1e6, True)),
    "plane int32": ("int32", lambda r: distances(r.random((n, 2)), r.random((n, 2)), 1e6, True)),
    "plane float64": ("float64", lambda r: distances(r.random((n, 2)), r.random((n, 2)))),
    "lattices": ("int32", lambda r: distances(lattice(0), lattice(7), 1, True)),
    "permuted Monge": ("int32", monge),
    "low rank and noise": ("int32", lambda r: (1e6 * (r.random((n, 4)) @ r.random((4, n)))).astype(np.int32) + r.integers(0, 3, (n, n), np.int32)),
    "blocks": ("int32", blocks),
    "0/1": ("int32", lambda r: r.random((n, n)) * n >= 2.5),
    "power law": ("float32", lambda r: (r.random((n, n)) + 1e-6) ** -1.4),
    "sorted columns": ("int32", sorted_columns),
}
PEERS = {
    "SciPy": lambda c: linear_sum_assignment(c)[1],
    "lapjv": lambda c: lap.lapjv(c, return_cost=False)[0],
    "lapjvh": lambda c: lap.lapjvh(c, return_cost=False)[1],
    "lapjvr": lambda c: lap.lapjvr(c, return_cost=False)[1],
    "POT": lambda c: ot.emd(np.ones(len(c)) / len(c), np.ones(len(c)) / len(c), c.astype(np.float64), numItermax=10**9).argmax(1),
}


def once(call, costs, limit):
    """Seconds of the processor and the clock, and the columns, of a call in a process of its own; no columns where it takes more than limit."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        call(costs[:3, :3].copy())  # what a process loads once does not count
        signal.setitimer(signal.ITIMER_PROF, limit)  # whose signal ends the process
        before, clock = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        found = call(costs)
        clock, after = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_SELF)
        signal.setitimer(signal.ITIMER_PROF, 0)
        with os.fdopen(write, "wb") as f:
            pickle.dump((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock, np.asarray(found)), f)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        text = f.read()
    os.waitpid(child, 0)
    return pickle.loads(text) if text else (limit, None, None)


begin, rows = time.perf_counter(), []
for kind, (dtype, draw) in KINDS.items():
    if o.kinds and kind not in o.kinds.split(",") or time.perf_counter() - begin > o.budget:
        continue
    costs = None
    costs = np.ascontiguousarray(draw(np.random.default_rng(65)), dtype)
    cpu, clock, columns = once(lambda c: coalesce.solve_assignment(c).column, costs, 600)
    if columns is None:
        raise SystemExit(f"{kind}: coalesce did not end")
    value = costs[np.arange(n), columns].sum(dtype=np.float64)
    row = {"kind": kind, "type": dtype, "rows": n, "coalesce": {"cpu": cpu, "clock": clock}}
    limit = 1.5 * cpu + 1
    for name in o.peers.split(","):
        taken, wall, found = once(PEERS[name], costs, limit)
        row[name] = {"cpu": taken, "clock": wall} if found is not None else {"cpu": limit, "ended": True}
        if found is not None:
            other = costs[np.arange(n), found].sum(dtype=np.float64)
            row[name]["difference"] = float(abs(other - value) / max(1e-300, abs(value)))
    rows.append(row)
    best = min((row[name]["cpu"], name) for name in o.peers.split(","))
    print(f"{kind:26} {cpu:7.3f} ({clock:.3f})  " + "  ".join(f"{name} {'>' if 'ended' in row[name] else ''}{row[name]['cpu']:.3f}" for name in o.peers.split(","))
          + f"  best ÷ coalesce {best[0] / cpu:.2f}", flush=True)
if o.json:
    with open(o.json, "w") as f:
        json.dump({"experiment": "hosts", "device": device(), "cores": os.cpu_count(), "command": "python bench/assignment/hosts.py", "commit": o.commit, "scipy": scipy.__version__,
                   "lapx": lap.__version__, "pot": ot.__version__, "rows": rows}, f, indent=1)
