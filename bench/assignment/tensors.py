"""Small matrices in a GPU's memory: Coalesce's tensors in place against torch-linear-assignment, in one process.

    python bench/assignment/tensors.py --out bench/results/tensors.json [--rounds N] [--check]

--check compares the answers with SciPy's first: values of random batches of all types and shapes, SciPy's own indices with
ties="scipy" and of batch_linear_assignment, and a captured CUDA graph that is replayed with other costs. Then calls of all contenders take turns, and the
medians of their times from the call to a synchronised device go to the file, the worst ratio first. "enqueued" is the GPU's
time of a call in a captured graph. Needs torch, SciPy, torch-linear-assignment and the wheel with CUDA. Exits 1 where an answer is wrong.
"""
import argparse
import json
import platform
import statistics
import sys
import time

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment as scipy_solve

import coalesce

try:
    from torch_linear_assignment import batch_linear_assignment as peer_solve
except ImportError:
    peer_solve = None

SHAPES = [(4096, 8, 8), (1000, 20, 20), (1000, 32, 32), (64, 100, 100), (32, 300, 20), (16, 900, 100), (208, 300, 300),
          (100, 300, 2000), (256, 512, 512), (1, 100, 20), (1, 20, 20)]
KINDS = {
    "uniform": lambda g, s: torch.rand(s, generator=g, device="cuda"),
    "ties": lambda g, s: torch.randint(0, 10, s, generator=g, device="cuda").float(),
    "tracker": lambda g, s: torch.where(torch.rand(s, generator=g, device="cuda") < 0.95, torch.ones(s, device="cuda"), torch.rand(s, generator=g, device="cuda")),
}


def ours(x, **options):
    return coalesce.linear_sum_assignment(x, tensors=True, **options)


def not_as_scipy(a, x, faults):
    """Adds to faults where batch_linear_assignment gives other columns than SciPy for matrices a, the tensor x; how many it solved."""
    want = np.full(a.shape[:2], -1)
    try:
        for k, one in enumerate(a):
            rows, columns = scipy_solve(one)
            want[k, rows] = columns
    except ValueError:
        try:
            coalesce.batch_linear_assignment(x)
        except ValueError:
            return len(a)
        faults.append(f"{a.shape} {a.dtype}: batch_linear_assignment finds a matching, SciPy none")
        return len(a)
    found = coalesce.batch_linear_assignment(x)
    indices = coalesce.assignment_to_indices(found)
    if found.device != x.device or (found.cpu().numpy() != want).any():
        faults.append(f"{a.shape} {a.dtype}: batch_linear_assignment gives other columns than SciPy")
    elif any((i.cpu().numpy() != j).any() for i, j in zip(indices, (np.nonzero(want >= 0)[1].reshape(len(a), -1), want[want >= 0].reshape(len(a), -1)))):
        faults.append(f"{a.shape} {a.dtype}: assignment_to_indices gives other indices")
    return len(a)


def wrong_answers():
    """What differs from SciPy's answers."""
    faults, solved = [], 0
    r = np.random.default_rng(5)
    for case in range(300):
        n, m = (int(x) for x in r.integers(1, [(9, 9), (33, 33), (130, 130), (40, 400)][case % 4]))
        if case % 60 == 59:
            n, m = 300 + case, 300
        count = int(r.integers(1, 6))
        dtype = [np.float32, np.float64, np.int32, np.int64][case // 4 % 4]
        span = [3, 40, 10**6][case % 3]
        a = r.integers(-span, span, (count, n, m)).astype(dtype)
        if dtype in (np.float32, np.float64) and case % 5 == 0:
            a = r.normal(size=(count, n, m)).astype(dtype)
        elif dtype in (np.float32, np.float64) and case % 5 == 1:
            a[r.random(a.shape) < 0.3] = np.inf
        maximize = case % 7 == 0
        if maximize:
            a = np.where(np.isinf(a), -np.inf, a) if a.dtype.kind == "f" else a
        x = torch.from_numpy(a).cuda()
        expected = []
        solved += not_as_scipy(a, x, faults) if not maximize else 0
        for one in a:
            try:
                expected.append(scipy_solve(one, maximize))
            except ValueError:
                expected.append(None)
        for ties in ("any", "scipy"):
            rows, columns, status = (t.cpu().numpy() for t in coalesce.enqueue_linear_sum_assignment(x, maximize, ties=ties))
            try:
                waited = [t.cpu().numpy() for t in coalesce.linear_sum_assignment(x, maximize, tensors=True, ties=ties)]
            except ValueError:
                waited = None
            if (waited is None) != (None in expected):
                faults.append(f"{a.shape} {dtype.__name__}: waited found {waited}, SciPy's are {expected}")
            for k, want in enumerate(expected):
                solved += 1
                if want is None:
                    if status[k] != 1 or (rows[k] != -1).any():
                        faults.append(f"{a.shape} {dtype.__name__} {k}: status {status[k]}, SciPy finds no matching")
                    continue
                exact = np.float64 if a.dtype.kind == "f" else np.int64
                got, best = (float(a[k].astype(exact)[i].sum()) for i in ((rows[k], columns[k]), want))
                if status[k] != 0 or abs(got - best) > 1e-12 * abs(best) or len(set(columns[k])) != len(columns[k]) or (np.diff(rows[k]) <= 0).any():
                    faults.append(f"{a.shape} {dtype.__name__} {k} {ties}: status {status[k]}, {got} for {best}")
                elif ties == "scipy" and ((rows[k] != want[0]).any() or (columns[k] != want[1]).any()):
                    faults.append(f"{a.shape} {dtype.__name__} {k}: other indices than SciPy's")
                if waited is not None and status[k] == 0 and (waited[1][k] != columns[k]).any():
                    faults.append(f"{a.shape} {dtype.__name__} {k}: another answer when waited for")
    g = torch.Generator(device="cuda").manual_seed(3)
    for shape in ((500, 20, 20), (16, 900, 100), (20, 300, 300)):
        x = torch.rand(shape, generator=g, device="cuda")
        coalesce.enqueue_linear_sum_assignment(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = coalesce.enqueue_linear_sum_assignment(x)
        for _ in range(3):
            x.copy_(torch.rand(shape, generator=g, device="cuda"))
            graph.replay()
            rows, columns, status = (t.cpu().numpy() for t in answer)
            for k, one in enumerate(x.cpu().numpy()):
                want = scipy_solve(one)
                solved += 1
                if status[k] or not np.isclose(one[rows[k], columns[k]].sum(dtype=np.float64), one[want].sum(dtype=np.float64), rtol=1e-12):
                    faults.append(f"graph {shape} {k}: status {status[k]}")
    print(f"{solved} matrices compared with SciPy, {len(faults)} wrong", flush=True)
    return faults


def graph_seconds(x, rounds):
    """The GPU's time of a call in a captured graph."""
    coalesce.enqueue_linear_sum_assignment(x)
    graph, repeat = torch.cuda.CUDAGraph(), 10
    with torch.cuda.graph(graph):
        for _ in range(repeat):
            coalesce.enqueue_linear_sum_assignment(x)
    times = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000 / repeat)
    return statistics.median(times)


def race(shape, kind, rounds):
    g = torch.Generator(device="cuda").manual_seed(1)
    inputs = [KINDS[kind](g, shape) for _ in range(4)]
    contenders = {"coalesce": ours, 'coalesce, ties="scipy"': lambda x: ours(x, ties="scipy"), "batch_linear_assignment": coalesce.batch_linear_assignment}
    if peer_solve is not None:
        contenders["torch-linear-assignment"] = peer_solve
    times = {name: [] for name in contenders}
    for turn in range(rounds + 3):
        x = inputs[turn % len(inputs)]
        order = list(contenders.items())
        for name, solve in order[turn % len(order):] + order[: turn % len(order)]:  # each begins a turn
            torch.cuda.synchronize()
            began = time.perf_counter()
            solve(x)
            torch.cuda.synchronize()
            if turn >= 3:
                times[name].append(time.perf_counter() - began)
    row = {"batch": shape[0], "rows": shape[1], "cols": shape[2], "kind": kind, "rounds": rounds,
           "seconds": {name: statistics.median(t) for name, t in times.items()}, "enqueued": graph_seconds(inputs[0], rounds)}
    if peer_solve is not None:
        row["ratio"] = row["seconds"]["torch-linear-assignment"] / row["seconds"]["coalesce"]
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--tuned", help="a file of winners")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.tuned:
        coalesce.use_tuning(options.tuned)
    faults = wrong_answers() if options.check else []
    print("\n".join(faults[:20]))
    rows = []
    for kind in KINDS:
        for shape in SHAPES:
            row = race(shape, kind, options.rounds)
            rows.append(row)
            print(f"{kind:8} {shape!s:18} " + ", ".join(f"{name} {1e3 * t:.3f}" for name, t in row["seconds"].items()) + f" ms, enqueued {1e3 * row['enqueued']:.3f} ms", flush=True)
    rows.sort(key=lambda row: row.get("ratio", 0))
    facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "python": platform.python_version(), "rows": rows}
    try:
        from importlib.metadata import version
        facts["torch-linear-assignment"] = version("torch-linear-assignment")
    except Exception:
        pass
    with open(options.out, "w") as f:
        json.dump(facts, f, indent=1)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
