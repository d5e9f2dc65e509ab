"""Solves assignment for bench/assignment with the packages that are installed.

The first line written lists the solvers. Every line read is a request, a JSON
object: solver, file (the costs, row by row, as the machine holds them), rows,
cols, dtype, runs, limit (seconds). Every other line written answers one:
seconds of each run, the costs resident and of the type that the solver takes,
and the columns' total, or error.
"""
import json
import sys
import time

import numpy as np

solvers = {}

try:
    from scipy.optimize import linear_sum_assignment

    solvers["SciPy"] = (np.float64, lambda c: linear_sum_assignment(c)[1])
except ImportError:
    pass

try:
    import lap

    solvers["lapjv"] = (np.float64, lambda c: lap.lapjv(c, extend_cost=c.shape[0] != c.shape[1], return_cost=False)[0])
    if hasattr(lap, "lapjvs"):
        # float32 would lose digits of integers above 2^24.
        solvers["lapjvs"] = (np.float64, lambda c: lap.lapjvs(c, return_cost=False, prefer_float32=False)[1])
except ImportError:
    pass

try:
    import torch
    from torch_linear_assignment import batch_linear_assignment

    if torch.cuda.is_available():

        def torch_solve(c):
            out = batch_linear_assignment(c)
            torch.cuda.synchronize()
            return out.cpu().numpy()[0]

        solvers["torch-linear-assignment"] = (None, torch_solve)
except ImportError:
    pass


def total(c, columns):
    rows = np.flatnonzero(np.asarray(columns) >= 0)
    picked = c[rows, np.asarray(columns)[rows]]
    if np.issubdtype(c.dtype, np.integer):
        return str(int(picked.astype(np.int64).sum()))
    return repr(float(np.sum(picked, dtype=np.float64)))


def answer(request):
    dtype, solve = solvers[request["solver"]]
    shape = (request["rows"], request["cols"])
    costs = np.fromfile(request["file"], dtype=request["dtype"]).reshape(shape)
    if dtype is None:
        given = torch.from_numpy(costs.astype(np.float64)).cuda()[None]
        torch.cuda.synchronize()
    else:
        given = np.ascontiguousarray(costs, dtype=dtype)
    seconds, columns = [], None
    while len(seconds) < request["runs"]:
        start = time.perf_counter()
        columns = solve(given)
        seconds.append(time.perf_counter() - start)
        if sum(seconds) > request["limit"]:
            break
    return {"seconds": seconds, "total": total(costs, columns)}


print(json.dumps(sorted(solvers)), flush=True)
for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as e:  # told to the caller, who goes on
        reply = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(reply), flush=True)
