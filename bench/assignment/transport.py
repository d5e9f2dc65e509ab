"""Exact optimal transport beside POT's ot.emd, on the processor, in one process.

    python bench/assignment/transport.py [--sizes 1000,2000] [--repeat 5] --json FILE

Random masses; costs uniform, squared distances of uniform points, and of two normal clouds three apart. Rows are processor time of all threads and
the clock, ms, medians of interleaved rounds, and the larger relative difference of the costs. Needs coalesce, numpy and POT.
"""
import argparse
import json
import platform
import resource
import statistics
import time

import numpy as np
import ot

import coalesce

p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("--sizes", default="1000,2000")
p.add_argument("--repeat", type=int, default=5)
p.add_argument("--commit", default="")
p.add_argument("--json")
o = p.parse_args()


def device():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def timed(call):
    """Seconds of all threads' processor time and of the clock, and the answer."""
    cpu, clock = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
    answer = call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu, time.perf_counter() - clock, answer


rows = []
for n in map(int, o.sizes.split(",")):
    for kind in "uniform", "squared", "clouds":
        rng = np.random.default_rng(n)
        times = {"ours": [], "pot": []}
        worst = 0.0
        for _ in range(o.repeat):
            if kind == "uniform":
                costs = rng.random((n, n))
            else:
                draw = rng.random if kind == "squared" else lambda size: rng.normal(size=size)
                x, y = draw((n, 2)), draw((n, 2)) + (3 if kind == "clouds" else 0) * np.array([1, 0])
                costs = ((x[:, None] - y[None]) ** 2).sum(-1)
            a, b = rng.random(n), rng.random(n)
            a, b = a / a.sum(), b / b.sum()
            found = {}
            for name, call in ("ours", lambda: coalesce.emd2(a, b, costs)), ("pot", lambda: ot.emd2(a, b, costs, numItermax=10**8)):
                cpu, clock, found[name] = timed(call)
                times[name].append((1e3 * cpu, 1e3 * clock))
            worst = max(worst, abs(found["ours"] - found["pot"]) / found["pot"])
        median = {name: [statistics.median(t) for t in zip(*list_)] for name, list_ in times.items()}
        row = {"kind": kind, "rows": n, "cpu_ms": {k: m[0] for k, m in median.items()}, "clock_ms": {k: m[1] for k, m in median.items()}, "difference": worst}
        rows.append(row)
        print(f"{kind:10} {n:6} ours {median['ours'][0]:8.1f} ({median['ours'][1]:.1f}) POT {median['pot'][0]:8.1f} ({median['pot'][1]:.1f}) ms, ratio {median['pot'][0] / median['ours'][0]:.2f}, {worst:.1e}", flush=True)
if o.json:
    with open(o.json, "w") as f:
        json.dump({"experiment": "transport", "device": device(), "command": "python bench/assignment/transport.py", "commit": o.commit,
                   "pot": ot.__version__, "numpy": np.__version__, "rows": rows}, f, indent=1)
