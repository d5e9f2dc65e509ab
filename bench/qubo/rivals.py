"""Solves a binary quadratic program for bench/qubo with installed packages.

Standard input holds one JSON object: solver (empty: list the solvers), n,
file (int32 i, int32 j and float64 w of every term, i <= j, as records), limit
(seconds), target and seed. The answer, one JSON object on standard output,
has solvers and missing (packages, and why they cannot be had), or seconds (to
the end, the model in memory) and solution, a string of 0 and 1 whose objective
is to be maximised, or error.
"""
import json
import sys
import time

solvers = {}  # name: how its model is made of the terms, how it is solved
missing = {}

try:
    import numpy as np
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

    def model(terms, n):
        linear = np.zeros(n)
        on = terms["i"] == terms["j"]
        linear[terms["i"][on]] = -terms["w"][on]
        off = terms[~on]
        return dimod.BinaryQuadraticModel.from_numpy_vectors(linear, (off["i"], off["j"], -off["w"]), 0.0, "BINARY")

    def tabu(bqm, request):
        found = TabuSampler().sample(
            bqm, num_reads=1, timeout=int(1000 * request["limit"]), seed=request["seed"] % 2**31,
            energy_threshold=-request["target"])
        return found.first.sample

    def anneal(bqm, request):
        end, best, seed = time.perf_counter() + request["limit"], None, request["seed"]
        while best is None or best.energy > -request["target"] and time.perf_counter() < end:
            first = SimulatedAnnealingSampler().sample(bqm, num_reads=1, num_sweeps=1000, seed=seed % 2**31).first
            if best is None or first.energy < best.energy:
                best = first
            seed += 1000003
        return best.sample

    solvers["dwave-samplers tabu"] = (model, tabu)
    solvers["dwave-samplers SA"] = (model, anneal)
except ImportError as e:
    missing["dwave-samplers"] = str(e)

try:
    import numpy as np
    import torch
    import simulated_bifurcation as sb

    where = "cuda" if torch.cuda.is_available() else "cpu"

    def matrix(terms, n):
        """The polynomial on the device, and its terms in float64 to judge by. A
        first step loads what the libraries load, before the clock starts."""
        i, j, w = (torch.as_tensor(np.ascontiguousarray(terms[k]), device=where) for k in "ijw")
        q = torch.zeros((n, n), dtype=torch.float32, device=where)
        q[i.long(), j.long()] = w.float()
        polynomial = sb.build_model(q, dtype=torch.float32, device=where)
        polynomial.maximize(domain="binary", agents=128, max_steps=1, verbose=False)
        if where == "cuda":
            torch.cuda.synchronize()
        return polynomial, (i.long(), j.long(), w)

    def bifurcate(mode):
        def solve(model, request):
            """Runs of 128 agents, one after the other, until the target or the limit."""
            polynomial, (i, j, w) = model
            torch.manual_seed(request["seed"])
            end, best, top = time.perf_counter() + request["limit"], None, None
            while best is None or top < request["target"] and time.perf_counter() < end:
                left = max(0.01, end - time.perf_counter())
                x, _ = polynomial.maximize(domain="binary", agents=128, mode=mode, timeout=left, verbose=False)
                value = float((w * x[i].double() * x[j].double()).sum())
                if best is None or value > top:
                    best, top = x, value
            return [int(v) for v in best.round().cpu().tolist()]

        return solve

    for mode in ("ballistic", "discrete"):
        solvers[f"simulated-bifurcation {mode} {where}"] = (matrix, bifurcate(mode))
except ImportError as e:
    missing["simulated-bifurcation"] = str(e)


def answer(request):
    if not request["solver"]:
        return {"solvers": sorted(solvers), "missing": missing}
    make, solve = solvers[request["solver"]]
    built = make(np.fromfile(request["file"], dtype=[("i", "<i4"), ("j", "<i4"), ("w", "<f8")]), request["n"])
    start = time.perf_counter()
    sample = solve(built, request)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "solution": "".join(str(int(sample[i])) for i in range(request["n"]))}


try:
    reply = answer(json.load(sys.stdin))
except Exception as e:  # told to the caller, who goes on
    reply = {"error": f"{type(e).__name__}: {e}"}
json.dump(reply, sys.stdout)
