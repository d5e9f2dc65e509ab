"""Tunes the knapsack's pass with Kernel Tuner: tune.py FILE c, or tune.py FILE cupy for the CUDA kernel on a GPU."""

import json
import sys

import kernel_tuner
import numpy as np

file, backend = sys.argv[1], sys.argv[2]
r = np.random.default_rng(1)
capacity, count = (20_000, 3) if backend == "c" else (1 << 20, 3)
weights, values = r.integers(1, capacity, 3, dtype=np.uint64), r.integers(0, 1000, 3, dtype=np.int32)
old, table = r.integers(0, 1000, capacity + 1, dtype=np.int32), np.zeros(capacity + 1, np.int32)


def expected(items):
    want = old.copy()
    for w, v in zip(weights[:items], values[:items]):
        better = want.copy()
        better[w:] = np.maximum(better[w:], want[: len(want) - int(w)] + v)
        want = better
    return want


arguments = [old, table, weights, values, np.uint64(0), np.uint64(count), np.uint64(capacity)]
names = ("block", "items", "each") if backend == "c" else ("block_size_x", "ITEMS_OF_A_PASS", "EACH_THREAD")
kept = {}
for items in (1, 2, 3):  # one expected answer a call: the answer depends on the items of a pass
    space = {names[0]: [64, 128, 256], names[1]: [items], names[2]: [1, 2]}
    answer = [None, expected(items), None, None, None, None, None]
    options = {"lang": "C"} if backend == "c" else {"lang": "CuPy", "grid_div_x": [names[0], names[2]]}
    found, _ = kernel_tuner.tune_kernel("pass", file, capacity + 1, arguments, space, answer=answer, verbose=True, **options)
    for x in found:
        kept[f"block={x[names[0]]},items={items},each={x[names[2]]}"] = x["time"] if isinstance(x["time"], float) else str(x["time"])
    print("kept", json.dumps(kept), flush=True)
