"""Solves winner determination for bench/auction with the packages that are installed.

Standard input holds one JSON object: solver (empty: list the solvers), prices,
goods (a list of each bid), limit (seconds) and threads. The answer, one JSON
object on standard output, has solvers and missing (packages, and why they cannot
be had), or seconds (from the model in memory to the end), cpu (seconds of the
process), chosen (bids that win), bound, proven, nodes, and history, pairs of seconds
and the value of better bids, or error.
"""
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

solvers, missing = {}, {}


def rows(request):
    held = {}
    for bid, goods in enumerate(request["goods"]):
        for good in goods:
            held.setdefault(good, []).append(bid)
    return [bids for bids in held.values() if len(bids) > 1]


def used():
    return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(run):
    start, cpu = time.perf_counter(), used()
    run()
    return {"seconds": time.perf_counter() - start, "cpu": used() - cpu}


try:
    import highspy
    import numpy as np

    def highs(request):
        h, n = highspy.Highs(), len(request["prices"])
        h.silent()
        h.setOptionValue("mip_rel_gap", 0.0)
        h.setOptionValue("mip_abs_gap", 0.0)
        h.setOptionValue("threads", request["threads"])
        h.setOptionValue("time_limit", float(request["limit"]))
        ids = np.arange(n, dtype=np.int32)
        h.addVars(n, np.zeros(n), np.ones(n))
        h.changeColsIntegrality(n, ids, np.array([highspy.HighsVarType.kInteger] * n))
        h.changeColsCost(n, ids, np.array(request["prices"], dtype=float))
        h.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for bids in rows(request):
            h.addRow(-highspy.kHighsInf, 1.0, len(bids), np.array(bids, dtype=np.int32), np.ones(len(bids)))
        history = []
        h.cbMipImprovingSolution.subscribe(lambda e: history.append([e.data_out.running_time, e.data_out.mip_primal_bound]))
        out = timed(h.run)
        info = h.getInfo()
        x = h.getSolution().col_value
        return out | {"chosen": [j for j in range(n) if x[j] > 0.5], "bound": info.mip_dual_bound, "nodes": info.mip_node_count,
                      "proven": h.getModelStatus() == highspy.HighsModelStatus.kOptimal, "history": history}

    solvers["HiGHS " + highspy.Highs().version()] = highs
except ImportError as e:
    missing["HiGHS"] = str(e)

try:
    import pyscipopt

    class Better(pyscipopt.Eventhdlr):
        def eventinit(self):
            self.model.catchEvent(pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, event):
            self.history.append([self.model.getSolvingTime(), self.model.getPrimalbound()])

    def scip(request):
        m = pyscipopt.Model()
        m.hideOutput()
        m.setParam("limits/time", float(request["limit"]))
        m.setParam("timing/clocktype", 2)
        x = [m.addVar(vtype="B") for _ in request["prices"]]
        for bids in rows(request):
            m.addCons(pyscipopt.quicksum(x[j] for j in bids) <= 1)
        m.setObjective(pyscipopt.quicksum(p * v for p, v in zip(request["prices"], x)), "maximize")
        better = Better()
        better.history = []
        m.includeEventhdlr(better, "better", "better bids")
        out = timed(m.optimize)
        best = m.getBestSol() if m.getNSols() else None
        return out | {"chosen": [j for j, v in enumerate(x) if best is not None and m.getSolVal(best, v) > 0.5], "bound": m.getDualbound(),
                      "nodes": m.getNTotalNodes(), "proven": m.getStatus() == "optimal", "history": better.history}

    solvers["SCIP " + str(pyscipopt.Model().version())] = scip
except ImportError as e:
    missing["SCIP"] = str(e)

try:
    import ortools
    from ortools.sat.python import cp_model

    class Improved(cp_model.CpSolverSolutionCallback):
        def __init__(self):
            super().__init__()
            self.history = []

        def on_solution_callback(self):
            self.history.append([self.WallTime(), self.ObjectiveValue()])

    def cpsat(request):
        m = cp_model.CpModel()
        x = [m.NewBoolVar("") for _ in request["prices"]]
        for bids in rows(request):
            m.AddAtMostOne(x[j] for j in bids)
        m.Maximize(cp_model.LinearExpr.WeightedSum(x, request["prices"]))
        s, improved = cp_model.CpSolver(), Improved()
        s.parameters.max_time_in_seconds = float(request["limit"])
        s.parameters.num_workers = request["threads"]
        s.parameters.relative_gap_limit = 0.0
        s.parameters.absolute_gap_limit = 0.0
        s.parameters.mip_wanted_precision = 1e-9  # the error of decimals, which become integers
        status = []
        out = timed(lambda: status.append(s.Solve(m, improved)))
        found = status[0] in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        return out | {"chosen": [j for j, v in enumerate(x) if found and s.BooleanValue(v)], "bound": s.BestObjectiveBound(), "nodes": s.NumBranches(),
                      "proven": status[0] == cp_model.OPTIMAL, "history": improved.history}

    solvers["CP-SAT " + ortools.__version__] = cpsat
except ImportError as e:
    missing["CP-SAT"] = str(e)


def cbc(request):
    with tempfile.TemporaryDirectory() as folder:
        model, answer = os.path.join(folder, "model.lp"), os.path.join(folder, "answer.txt")
        with open(model, "w") as f:
            f.write("Maximize\n obj: " + "\n + ".join(f"{p!r} x{j}" for j, p in enumerate(request["prices"])) + "\nSubject To\n")
            for bids in rows(request):
                f.write(" " + "\n + ".join(f"x{j}" for j in bids) + " <= 1\n")
            f.write("Binary\n " + "\n ".join(f"x{j}" for j in range(len(request["prices"]))) + "\nEnd\n")
        command = ["cbc", model, "timemode", "elapsed", "threads", str(request["threads"]), "sec", str(request["limit"]), "ratio", "0", "allow", "0",
                   "solve", "solution", answer]
        said = []
        out = timed(lambda: said.append(subprocess.run(command, capture_output=True, text=True).stdout))
        text = said[0]
        chosen = []
        with open(answer) as f:
            status = f.readline()
            for line in f:
                cells = line.replace("**", "").split()
                if len(cells) > 2 and cells[1][0] == "x" and float(cells[2]) > 0.5:
                    chosen.append(int(cells[1][1:]))
        number = lambda pattern: (re.findall(pattern, text) or ["nan"])[-1]
        proven = status.startswith("Optimal")
        value = math.fsum(request["prices"][j] for j in chosen)
        history = [[float(t), abs(float(v))] for v, t in re.findall(r"Integer solution of (\S+) found.*\((\S+) seconds\)", text)]
        bound = value if proven else abs(float(number(r"Upper bound:\s+(\S+)")))
        return out | {"chosen": chosen, "bound": bound, "nodes": int(float(number(r"Enumerated nodes:\s+(\S+)")) if "Enumerated" in text else 0),
                      "proven": proven, "history": history}


if shutil.which("cbc"):
    said = subprocess.run(["cbc", "quit"], capture_output=True, text=True).stdout
    solvers["CBC " + (re.findall(r"Version:\s+(\S+)", said) or [""])[0]] = cbc
else:
    missing["CBC"] = "no cbc in PATH"

request = json.load(sys.stdin)
if not request["solver"]:
    print(json.dumps({"solvers": sorted(solvers), "missing": missing}))
else:
    try:
        found = solvers[request["solver"]](request)
        found["bound"] = found["bound"] if math.isfinite(found["bound"]) else None
        print(json.dumps(found))
    except Exception as e:
        print(json.dumps({"error": f"{type(e).__name__}: {e}"}))
