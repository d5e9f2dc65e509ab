"""Solves a binary quadratic program for bench/qubo with installed packages.

Standard input holds one JSON object: solver (empty: list the solvers), n,
file (int32 i, int32 j and float64 w of every term, i <= j, as records), limit
(seconds), target and seed. The answer, one JSON object on standard output,
has solvers, or seconds (to the end, the model in memory) and solution, a
string of 0 and 1 whose objective is to be maximised, or error.
"""
import json
import sys
import time

solvers = {}

try:
    import numpy as np
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

    def model(request):
        terms = np.fromfile(request["file"], dtype=[("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
        linear = np.zeros(request["n"])
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

    solvers["dwave-samplers tabu"] = tabu
    solvers["dwave-samplers SA"] = anneal
except ImportError:
    pass


def answer(request):
    if not request["solver"]:
        return {"solvers": sorted(solvers)}
    bqm = model(request)
    start = time.perf_counter()
    sample = solvers[request["solver"]](bqm, request)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "solution": "".join(str(int(sample[i])) for i in range(request["n"]))}


try:
    reply = answer(json.load(sys.stdin))
except Exception as e:  # told to the caller, who goes on
    reply = {"error": f"{type(e).__name__}: {e}"}
json.dump(reply, sys.stdout)
