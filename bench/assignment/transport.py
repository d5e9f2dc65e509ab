"""Exact optimal transport: on the processor beside POT's ot.emd, or of tensors in a GPU's memory beside arrays on that machine's processor.

    python bench/assignment/transport.py [--sizes 1000,2000] [--repeat 5] --json FILE
    python bench/assignment/transport.py --tensors [--sizes 64x256x256,1000] [--repeat 5] --json FILE

A size is that of a square matrix, or ROWSxCOLUMNS, or BATCHxROWSxCOLUMNS. Random masses; costs uniform, squared distances of uniform points, and of two
normal clouds three apart. Medians of interleaved rounds: on the processor of all threads' time and of the clock, ms, and with --tensors of the clock, from
tensors to the plan there; and the largest relative difference of the costs. Needs coalesce, numpy, and POT or torch.
"""
import argparse
import json
import platform
import resource
import statistics
import time

import numpy as np

import coalesce

KINDS = "uniform", "squared", "clouds"

p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("--sizes", default="1000,2000")
p.add_argument("--repeat", type=int, default=5)
p.add_argument("--tensors", action="store_true")
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


def problem(rng, kind, shape):
    """Masses of rows and of columns, and costs, of a batch (B, n, m)."""
    b, n, m = shape
    if kind == "uniform":
        costs = rng.random(shape)
    else:
        draw = rng.random if kind == "squared" else lambda size: rng.normal(size=size)
        x, y = draw((b, n, 2)), draw((b, m, 2)) + (3 if kind == "clouds" else 0) * np.array([1, 0])
        costs = ((x[:, :, None] - y[:, None]) ** 2).sum(-1)
    rows, columns = rng.random((b, n)), rng.random((b, m))
    return rows / rows.sum(1, keepdims=True), columns / columns.sum(1, keepdims=True), costs


def timed(call):
    """Milliseconds of all threads' processor time and of the clock, and the answer."""
    cpu, clock = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
    answer = call()
    return 1e3 * (resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu), 1e3 * (time.perf_counter() - clock), answer


def contenders(a, b, costs):
    """The calls that solve a batch, by name."""
    if o.tensors:
        on = [torch.as_tensor(x, device="cuda") for x in (a, b, costs)]
        torch.cuda.synchronize()

        def tensors():
            cost = coalesce.emd(*on, log=True)[1]["cost"]
            torch.cuda.synchronize()
            return cost

        return {"ours": tensors, "host": lambda: coalesce.emd2(a, b, costs)}
    return {"ours": lambda: coalesce.emd2(a, b, costs), "pot": lambda: [ot.emd2(*x, numItermax=10**8) for x in zip(a, b, costs)]}


if o.tensors:
    import torch
    about = {"device": torch.cuda.get_device_name(), "host": device(), "command": "python bench/assignment/transport.py --tensors", "torch": torch.__version__}
else:
    import ot
    about = {"device": device(), "command": "python bench/assignment/transport.py", "pot": ot.__version__}
rows = []
for size in o.sizes.split(","):
    shape = [int(x) for x in size.split("x")]
    shape = [1] * (3 - max(2, len(shape))) + (2 if len(shape) == 1 else 1) * shape
    for kind in KINDS:
        rng = np.random.default_rng(shape[1])
        times, worst = {}, 0.0
        for repeat in range(o.repeat):
            a, b, costs = problem(rng, kind, shape)
            found = {}
            for name, call in contenders(a, b, costs).items():
                if repeat == 0 and o.tensors:
                    call()
                cpu, clock, answer = timed(call)
                times.setdefault(name, []).append((cpu, clock))
                found[name] = np.asarray(answer.cpu() if hasattr(answer, "cpu") else answer, float).reshape(-1)
            ours, other = found.values()
            worst = max(worst, float((abs(ours - other) / other).max()))
        median = {name: [statistics.median(t) for t in zip(*list_)] for name, list_ in times.items()}
        row = {"kind": kind, "batch": shape[0], "rows": shape[1], "columns": shape[2],
               "cpu_ms": {k: m[0] for k, m in median.items()}, "clock_ms": {k: m[1] for k, m in median.items()}, "difference": worst}
        rows.append(row)
        print(f"{kind:10} {size:14} " + ", ".join(f"{k} {m[0]:.2f} ({m[1]:.2f})" for k, m in median.items()) + f" ms, {worst:.1e}", flush=True)
if o.json:
    with open(o.json, "w") as f:
        json.dump({"experiment": "transport-tensors" if o.tensors else "transport", **about, "commit": o.commit, "numpy": np.__version__, "rows": rows}, f, indent=1)
