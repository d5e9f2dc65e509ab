"""Models with constraints: coalesce beside dwave-samplers (cqm_to_bqm), HiGHS and CP-SAT, one process a solve, on the same cores.

Run with the package in PYTHONPATH or installed, and dimod, dwave-samplers, highspy and ortools:

    python bench/models/models.py --data DIR --limit 2 --short       # a quarter of an hour on two cores; scripts/models-race
    python bench/models/models.py --data DIR --limit 10 --rival-seeds 20

DIR may have qaplib/*.dat (QAPLIB), coloring/*.col (DIMACS), qplib/*.opb (QPLIB's binary programs, as github.com/msakai/QPLIB-PB converts them) and
E-n51-k5; other cases are drawn. Values are recomputed here, in whole numbers, from the model that all solvers get; a solver that breaks a constraint has none.
Writes bench/results/models.json, of which `go run ./bench/report` makes docs/results/models.md.
"""
import argparse
import collections
import concurrent.futures
import datetime
import glob
import itertools
import json
import math
import os
import pathlib
import queue
import random
import re
import resource
import subprocess
import sys
import threading
import time

# Best known values of QAPLIB (its page, 2026), and colours of DIMACS graphs that suffice.
QAP = {"tai20a": 703482, "tai20b": 122455319, "tai25a": 1167256, "tai30a": 1818146, "tai30b": 637117113, "tai35a": 2422002, "tai40a": 3139370, "tai40b": 637250948,
       "tai50a": 4938796, "tai50b": 458821517, "tai60a": 7205962, "tai60b": 608215054, "nug30": 6124, "sko42": 15812, "sko49": 23386,
       "ste36a": 9526, "tho40": 240516, "wil50": 48816, "esc32a": 130, "kra30a": 88900}
COLOURS = {"myciel5": 6, "queen5_5": 5, "queen6_6": 7, "queen7_7": 7, "queen8_8": 9, "queen9_9": 10, "david": 11, "DSJC125.1": 5, "DSJC125.5": 17, "le450_5a": 5}
SHORT = ["knapsack-100-50", "knapsack-200-50", "tai25a", "nug30", "tai30a", "E-n51-k5", "myciel5", "queen8_8", "DSJC125.1", "DSJC125.5", "qplib-3506", "qplib-3706", "qplib-5881",
         "qplib-0067", "qplib-3402", "qplib-3762", "qplib-2512", "partition-60", "tardiness-12", "tardiness-20"]


class Case:
    """A model in the JSON of docs/models.md: whole numbers, binary variables."""

    def __init__(self, kind, name, known=None, sense="minimize"):
        self.kind, self.name, self.known, self.sense = kind, name, known, sense
        self.kinds, self.terms, self.rows = [], collections.defaultdict(int), []

    def variable(self):
        self.kinds.append("binary")
        return len(self.kinds) - 1

    def add(self, c, *x):
        self.terms[tuple(sorted(x))] += c

    def row(self, terms, low=None, high=None):
        self.rows.append(([(c, i) for c, i in terms], low, high))

    def text(self):
        return json.dumps({"sense": self.sense, "variables": [{"name": f"x{i}", "kind": k} for i, k in enumerate(self.kinds)], "objective": [[c, *x] for x, c in self.terms.items() if c],
                           "constraints": [{"terms": terms, "low": low, "high": high} for terms, low, high in self.rows]})

    def value(self, x):
        """The objective, None where a constraint is broken."""
        for terms, low, high in self.rows:
            s = sum(c * x[i] for c, i in terms)
            if low is not None and s < low or high is not None and s > high:
                return None
        return sum(c * math.prod(x[i] for i in key) for key, c in self.terms.items())


def knapsack(n, density, seed):
    """Quadratic knapsack as Billionnet and Soutif (2004) draw it."""
    r = random.Random(seed)
    c = Case("quadratic knapsack", f"knapsack-{n}-{density}-{seed}", sense="maximize")
    x = [c.variable() for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            if r.randrange(100) < density:
                c.add(r.randint(1, 100), *({x[i], x[j]}))
    w = [r.randint(1, 50) for _ in range(n)]
    c.row(list(zip(w, x)), high=r.randint(50, max(51, sum(w))))
    return c


def assignment(c, n, m):
    x = [[c.variable() for _ in range(m)] for _ in range(n)]
    for i in range(n):
        c.row([(1, v) for v in x[i]], 1, 1)
    return x


def quadratic_assignment(path):
    numbers = list(map(int, pathlib.Path(path).read_text().split()))
    n, name = numbers[0], pathlib.Path(path).stem
    a, b = numbers[1:1 + n * n], numbers[1 + n * n:1 + 2 * n * n]
    c = Case("quadratic assignment", name, QAP.get(name))
    x = assignment(c, n, n)
    for k in range(n):
        c.row([(1, x[i][k]) for i in range(n)], 1, 1)
    for i in range(n):
        for k in range(n):
            c.add(a[i * n + i] * b[k * n + k], x[i][k])
    for i, j in itertools.combinations(range(n), 2):
        there, back = a[i * n + j], a[j * n + i]
        if there or back:
            for k, l in itertools.permutations(range(n), 2):
                cost = there * b[k * n + l] + back * b[l * n + k]
                if cost:
                    c.terms[x[i][k], x[j][l]] = cost
    return c


def routing(path, vehicles, places):
    """Customers at places of vehicles; a gap between places costs the way over the depot, so that no best answer has one."""
    words = pathlib.Path(path).read_text().replace("#", " ").split()
    capacity, count = int(words[0]), int(words[1])
    demand = list(map(int, words[3:2 + 2 * count:2]))  # of the numbers from 1, then their places
    at = words[2 + 2 * count:]
    points = [tuple(map(float, at[3 * k + 1:3 * k + 3])) for k in range(count)]
    d = [[int(math.dist(p, q) + 0.5) for q in points] for p in points]
    depot = demand.index(0)
    customers = [k for k in range(count) if k != depot]
    c = Case("capacitated routing", pathlib.Path(path).stem, 521)
    x = dict(zip(customers, assignment(c, len(customers), vehicles * places)))
    for v in range(vehicles):
        c.row([(demand[k], x[k][v * places + p]) for k in customers for p in range(places)], high=capacity)
        for p in range(places):
            c.row([(1, x[k][v * places + p]) for k in customers], high=1)
            for k in customers:
                c.add(2 * d[depot][k], x[k][v * places + p])
                if p + 1 < places:
                    for l in customers:
                        if l != k:
                            c.add(d[k][l] - d[k][depot] - d[depot][l], x[k][v * places + p], x[l][v * places + p + 1])
    return c


def colouring(path):
    name = pathlib.Path(path).stem
    if name not in COLOURS:
        return None
    lines = re.findall(r"^(?:e\s)?\s*(\d+)\s+(\d+)\s*$", pathlib.Path(path).read_text(errors="replace"), re.M)
    edges = {tuple(sorted(map(int, e))) for e in lines if e[0] != e[1]}
    nodes = sorted({v for e in edges for v in e})
    c = Case("graph colouring", f"{name} in {COLOURS[name]}", 0)
    x = dict(zip(nodes, assignment(c, len(nodes), COLOURS[name])))
    for u, v in edges:
        for k in range(COLOURS[name]):
            c.add(1, x[u][k], x[v][k])
    return c


def qplib(path):
    """A pseudo-boolean program (OPB) of QPLIB; None of one with products in constraints."""
    name = pathlib.Path(path).stem.replace("QPLIB_", "qplib-")
    text = " ".join(line for line in pathlib.Path(path).read_text().splitlines() if not line.startswith("*"))
    c, x = None, {}

    for statement in text.split(";"):
        words = statement.replace("min:", " min: ").split()
        if not words:
            continue
        if c is None:
            c = Case("", name)
        objective = words[0] == "min:"
        side = None if objective else next(k for k, w in enumerate(words) if w in (">=", "=", "<="))
        row, current = [], None
        for word in words[1:] if objective else words[:side]:
            if re.fullmatch(r"[+-]?\d+", word):
                current = [int(word)]
                row.append(current)
            else:
                if word not in x:
                    x[word] = c.variable()
                current.append(x[word])
        if objective:
            for t in row:
                c.add(*t)
        else:
            if any(len(t) != 2 for t in row):
                return None
            bound = int(words[side + 1])
            c.row([tuple(t) for t in row], None if words[side] == "<=" else bound, None if words[side] == ">=" else bound)
    c.kind = "QPLIB, linear constraints" if c.rows else "QPLIB, unconstrained"
    return c


def partition(n, bits, seed):
    r = random.Random(seed)
    numbers = [r.getrandbits(bits) for _ in range(n)]
    c = Case("number partitioning", f"partition-{n}-{bits}-{seed}")
    x, total = [c.variable() for _ in range(n)], sum(numbers)
    c.add(total * total)  # the square of twice one side's sum less the total
    for i in range(n):
        c.add(4 * numbers[i] * (numbers[i] - total), x[i])
    for i, j in itertools.combinations(range(n), 2):
        c.add(8 * numbers[i] * numbers[j], x[i], x[j])
    return c


def tardiness(n, seed):
    """Jobs on one machine, each with one start: the least weighted tardiness."""
    r = random.Random(seed)
    length = [r.randint(1, 5) for _ in range(n)]
    end = sum(length)
    c = Case("scheduling with one-hot rows", f"tardiness-{n}-{seed}")
    busy = [[] for _ in range(end)]
    for j in range(n):
        due, weight = r.randint(length[j], end * 2 // 3), r.randint(1, 9)
        x = [c.variable() for _ in range(end - length[j] + 1)]
        c.row([(1, v) for v in x], 1, 1)
        for t, v in enumerate(x):
            c.add(weight * max(0, t + length[j] - due), v)
            for s in range(t, t + length[j]):
                busy[s].append((1, v))
    for slot in busy:
        c.row(slot, high=1)
    return c


def cases(data):
    """The beginning of each case's name, the function that draws it, and its parameters."""
    for n, density in ((100, 25), (100, 50), (100, 100), (200, 50), (300, 50)):
        yield f"knapsack-{n}-{density}", knapsack, (n, density, 1)
    for folder, draw, known in (("qaplib/*.dat", quadratic_assignment, QAP), ("E-n51-k5", routing, None), ("coloring/*.col", colouring, COLOURS), ("qplib/*.opb", qplib, None)):
        for path in sorted(glob.glob(os.path.join(data, folder))) if data else []:
            stem = pathlib.Path(path).stem.replace("QPLIB_", "qplib-")
            if known is None or stem in known:
                yield stem, draw, (path, 5, 13) if draw is routing else (path,)
    for n, bits in ((60, 12), (100, 20)):
        yield f"partition-{n}-{bits}", partition, (n, bits, 1)
    for n in (12, 20, 30):
        yield f"tardiness-{n}", tardiness, (n, 1)


def linearised(case):
    """The products of two variables, which become new ones."""
    return {tuple(sorted(set(x))): c for x, c in case.terms.items() if len(set(x)) == 2 and c}


def highs(case, limit, threads, seed):
    import highspy
    import numpy as np

    pairs = linearised(case)
    h, n = highspy.Highs(), len(case.kinds)
    h.silent()
    for name, v in (("threads", threads), ("time_limit", float(limit)), ("random_seed", seed), ("mip_rel_gap", 0.0)):
        h.setOptionValue(name, v)
    total = n + len(pairs)
    h.addVars(total, np.zeros(total), np.ones(total))
    h.changeColsIntegrality(n, np.arange(n, dtype=np.int32), np.array([highspy.HighsVarType.kInteger] * n))
    cost = np.zeros(total)
    offset, sign = 0, 1 if case.sense == "minimize" else -1
    for x, c in case.terms.items():
        if not x:
            offset += c
        elif len(set(x)) == 1:
            cost[x[0]] += sign * c
    for k, ((i, j), c) in enumerate(pairs.items()):
        cost[n + k] = sign * c
        rows = [([n + k, i], [1, -1], -highspy.kHighsInf, 0), ([n + k, j], [1, -1], -highspy.kHighsInf, 0)] if sign * c < 0 else [([n + k, i, j], [1, -1, -1], -1, highspy.kHighsInf)]
        for columns, values, low, high in rows:
            h.addRow(low, high, len(columns), np.array(columns, dtype=np.int32), np.array(values, dtype=float))
    h.changeColsCost(total, np.arange(total, dtype=np.int32), cost)
    for terms, low, high in case.rows:
        h.addRow(-highspy.kHighsInf if low is None else low, highspy.kHighsInf if high is None else high, len(terms), np.array([i for _, i in terms], dtype=np.int32),
                 np.array([c for c, _ in terms], dtype=float))
    h.run()
    x = h.getSolution().col_value
    bound = h.getInfo().mip_dual_bound
    return {"x": [round(v) for v in x[:n]] if x else None, "bound": offset + sign * bound if math.isfinite(bound) else None, "proven": h.getModelStatus() == highspy.HighsModelStatus.kOptimal}


def cp_sat(case, limit, threads, seed):
    from ortools.sat.python import cp_model

    pairs = linearised(case)
    m = cp_model.CpModel()
    x = [m.new_bool_var("") for _ in case.kinds]
    for terms, low, high in case.rows:
        m.add_linear_constraint(cp_model.LinearExpr.weighted_sum([x[i] for _, i in terms], [c for c, _ in terms]), -2**60 if low is None else low, 2**60 if high is None else high)
    variables, weights, offset = [], [], 0
    sign = 1 if case.sense == "minimize" else -1
    for key, c in case.terms.items():
        if not key:
            offset += c
        elif len(set(key)) == 1:
            variables.append(x[key[0]])
            weights.append(c)
    for (i, j), c in pairs.items():
        y = m.new_bool_var("")
        if sign * c < 0:
            m.add_implication(y, x[i])
            m.add_implication(y, x[j])
        else:
            m.add_bool_or(y, x[i].negated(), x[j].negated())
        variables.append(y)
        weights.append(c)
    objective = cp_model.LinearExpr.weighted_sum(variables, weights) + offset
    (m.minimize if sign > 0 else m.maximize)(objective)
    s = cp_model.CpSolver()
    s.parameters.max_time_in_seconds, s.parameters.num_workers, s.parameters.random_seed = limit, threads, seed
    status = s.solve(m)
    there = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return {"x": [s.value(v) for v in x] if there else None, "bound": s.best_objective_bound, "proven": status == cp_model.OPTIMAL}


def dwave(case, limit, threads, seed, tabu):
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler, TabuSampler

    sign = 1 if case.sense == "minimize" else -1
    cqm = dimod.ConstrainedQuadraticModel()
    for i in range(len(case.kinds)):
        cqm.add_variable("BINARY", i)
    objective = dimod.QuadraticModel()
    for i in range(len(case.kinds)):
        objective.add_variable("BINARY", i)
    for x, c in case.terms.items():
        if len(set(x)) == 2:
            objective.add_quadratic(x[0], x[1], sign * c)
        elif x:
            objective.add_linear(x[0], sign * c)
        else:
            objective.offset += sign * c
    cqm.set_objective(objective)
    for terms, low, high in case.rows:
        left = [(i, c) for c, i in terms]
        if low == high:
            cqm.add_constraint_from_iterable(left, "==", rhs=low)
        else:
            for bound, sense in ((low, ">="), (high, "<=")):
                if bound is not None:
                    cqm.add_constraint_from_iterable(left, sense, rhs=bound)
    bqm, invert = dimod.cqm_to_bqm(cqm)
    best, until = None, time.perf_counter() + limit
    while best is None or time.perf_counter() < until:
        seed += 1000003
        if tabu:
            sampled = TabuSampler().sample(bqm, timeout=int(1000 * max(0.05, until - time.perf_counter())), num_reads=1, seed=seed % 2**31)
        else:
            sampled = SimulatedAnnealingSampler().sample(bqm, num_reads=1, num_sweeps=1000, seed=seed % 2**31)
        x = invert(sampled.first.sample)
        x = [int(x[i]) for i in range(len(case.kinds))]
        v = case.value(x)
        if best is None or v is not None and (best[0] is None or sign * v < sign * best[0]):
            best = v, x
        if time.perf_counter() >= until:
            break
    return {"x": best[1], "bound": None, "proven": False}


def coalesce_(case, limit, threads, seed, device):
    import coalesce

    text = case.text()
    began = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    r = coalesce.solve_model(text, time_limit=limit, seed=seed, device=device)
    return {"x": [r.values[f"x{i}"] for i in range(len(case.kinds))] if r.values else None, "bound": None if r.bound is None else float(r.bound), "proven": bool(r.proven), "began": began}


SOLVERS = {"coalesce": coalesce_, "CP-SAT": cp_sat, "HiGHS": highs, "simulated annealing": lambda *a: dwave(*a, False), "tabu": lambda *a: dwave(*a, True)}


def one(arguments, number, solver, count):
    """A child's work: draw the case, say so, and solve it with each seed; a line each of what came of it."""
    _, draw, parameters = list(cases(arguments.data))[number]
    case = draw(*parameters)
    print("null" if case is None else "{}", flush=True)
    for seed in range(1, count + 1) if case else ():
        began = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        out = SOLVERS[solver](case, arguments.limit, arguments.threads, seed, *([arguments.device] if solver == "coalesce" else []))
        began = out.pop("began", began)
        out["seconds"], out["cpu"] = time.perf_counter() - began[0], sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - began[1]
        if out.get("x") is not None:
            out["value"] = case.value(out["x"])
        out |= {"kind": case.kind, "case": case.name, "variables": len(case.kinds), "terms": len(case.terms), "constraints": len(case.rows), "sense": case.sense, "known": case.known}
        del out["x"]
        print(json.dumps(out), flush=True)


# Seconds that drawing a case may take, and a solver beyond its limit, which is then killed.
DRAW, GRACE = 60, 15


def race(a, number, solver, core):
    """The row of a case and a solver, with the case's members once a child has printed them; None: there is no such case."""
    about = {}
    row = {"solver": solver, "values": [], "seconds": 0.0, "cpu": 0.0, "bound": None, "proven": 0, "failed": ""}
    count = a.seeds if solver == "coalesce" else a.rival_seeds
    child = subprocess.Popen([sys.executable, __file__, "--data", a.data, "--limit", str(a.limit), "--threads", str(a.threads), "--device", a.device, "--one", str(number), solver, str(count)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, core))
    try:
        for k in range(count + 1):
            allowed = DRAW if k == 0 else a.limit + GRACE
            watch = threading.Timer(allowed, child.kill)
            watch.start()
            line = next((t for t in child.stdout if t.startswith(("{", "null"))), "")  # others are a solver's own
            over = not watch.is_alive()
            watch.cancel()
            if not line.strip():
                row["failed"] = f"killed after {allowed:.0f} s" if over else (child.stderr.read().strip().splitlines() or ["ended"])[-1][:200]
                break
            got = json.loads(line)
            if got is None:  # a case with products in constraints
                return None
            if k == 0:
                continue
            about = {key: got[key] for key in ("kind", "case", "variables", "terms", "constraints", "sense", "known")}
            row["values"].append(got.get("value"))
            row["seconds"], row["cpu"] = max(row["seconds"], round(got["seconds"], 3)), max(row["cpu"], round(got["cpu"], 3))
            row["proven"] += bool(got["proven"])
            if got["bound"] is not None and math.isfinite(got["bound"]):
                row["bound"] = got["bound"]
    finally:
        child.kill()
        child.wait()
    return about | row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default="")
    p.add_argument("--limit", type=float, default=10.0)
    p.add_argument("--seeds", type=int, default=20, help="of coalesce")
    p.add_argument("--rival-seeds", type=int, default=5)
    p.add_argument("--cores", type=int, default=2, help="of all solves at a time")
    p.add_argument("--threads", type=int, default=1, help="and cores, of a solve")
    p.add_argument("--device", default="host", help="of coalesce, such as cuda:0; others run on the host")
    p.add_argument("--cases", default="", help="comma-separated beginnings of names")
    p.add_argument("--solvers", default="", help="comma-separated names")
    p.add_argument("--short", action="store_true", help="cases of all kinds")
    p.add_argument("--commit", default="")
    p.add_argument("--out", default="bench/results/models.json")
    p.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.one:
        return one(a, int(a.one[0]), a.one[1], int(a.one[2]))
    wanted = [w for w in a.cases.split(",") if w] or (SHORT if a.short else [])
    solvers = [s for s in a.solvers.split(",") if s] or list(SOLVERS)
    import importlib.metadata as metadata
    words, hidden = [], {"--data": ["--data", "DIR"], "--out": [], "--commit": []}  # paths of this machine
    for k, word in enumerate(sys.argv[1:], 1):
        words += hidden.get(word, [] if sys.argv[k - 1] in hidden else [word])
    out = {"experiment": "models", "command": " ".join(["python bench/models/models.py", *words]), "commit": a.commit,
           "date": datetime.date.today().isoformat(), "device": a.device, "host": next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), ""),
           "cores": a.cores, "threads": a.threads, "load": round(os.getloadavg()[0], 1), "limit": a.limit, "seeds": a.seeds, "rival_seeds": a.rival_seeds,
           "packages": {k: metadata.version(k) for k in ("dimod", "dwave-samplers", "highspy", "ortools")}, "rows": []}
    every = sorted(os.sched_getaffinity(0))[:a.cores]
    lanes = queue.SimpleQueue()  # cores that a solve has for itself
    for k in range(0, len(every) - a.threads + 1, a.threads):
        lanes.put(set(every[k:k + a.threads]))
    chosen = [(number, name) for number, (name, _, _) in enumerate(cases(a.data)) if not wanted or any(name.startswith(w) for w in wanted)]
    rows = {}

    def work(job):
        number, name, solver = job
        core = lanes.get()
        try:
            rows[job] = race(a, number, solver, core)
        finally:
            lanes.put(core)
        if rows[job]:
            r = rows[job]
            print(f"{name:24} {solver:20} {r['values'][:4]} bound {r['bound']} proven {r['proven']} {r['seconds']:.1f} s {r['failed']}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(lanes.qsize()) as pool:
        list(pool.map(work, [(number, name, solver) for number, name in chosen for solver in solvers]))
    for number, name in chosen:
        own = [rows[number, name, solver] for solver in solvers if rows[number, name, solver]]
        about = next(({k: r[k] for k in r if k not in ("solver", "values", "seconds", "cpu", "bound", "proven", "failed")} for r in own if "case" in r), None)
        if about:
            out["rows"] += [about | r for r in own]
    pathlib.Path(a.out).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
