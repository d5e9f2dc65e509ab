"""Duals to begin from, points, sizes and checkpoints of coalitions, payments, callbacks."""

import itertools
from decimal import Decimal

import numpy as np
import pytest
import scipy.optimize
import scipy.spatial.distance

import coalesce


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (5, 9), (9, 5), (120, 130)])
def test_start(shape, maximize):
    rng = np.random.default_rng(1)
    for dtype in (np.int32, np.float64):
        a = (rng.random(shape) * 1000).astype(dtype)
        before = coalesce.solve_assignment(a, maximize)
        b = (a + rng.integers(-3, 4, shape)).astype(dtype)
        r, c = scipy.optimize.linear_sum_assignment(b, maximize)
        noise = (rng.normal(size=shape[0]) * 500, rng.normal(size=shape[1]) * 500)  # duals that are not feasible
        for start in (before, (before.u, before.v), noise, (np.zeros(shape[0]), np.zeros(shape[1]))):
            after = coalesce.solve_assignment(b, maximize, start=start)
            assert after.value == pytest.approx(b[r, c].astype(float).sum()) and after.proven


def test_start_refuses():
    a = np.eye(3)
    low, high = coalesce.solve_assignment(a), coalesce.solve_assignment(a, True)
    for start, words in ((high, "maximises"), (([0, 0], [0, 0, 0]), "shapes"), (coalesce.solve_assignment(a, duals=False), "without duals")):
        with pytest.raises(ValueError, match=words):
            coalesce.solve_assignment(a, start=start)
    with pytest.raises(coalesce.CostError):
        coalesce.solve_assignment(a, start=([0, np.nan, 0], [0, 0, 0]))
    with pytest.raises(ValueError, match="batch"):
        coalesce.solve_assignment(np.zeros((2, 3, 3)), start=low)


@pytest.mark.parametrize("metric, theirs", [("euclidean", "euclidean"), ("squared", "sqeuclidean"), ("manhattan", "cityblock")])
def test_points(metric, theirs):
    rng = np.random.default_rng(2)
    for n, m, d in ((1, 1, 1), (7, 7, 2), (20, 30, 3), (30, 20, 5)):
        a, b = rng.normal(size=(n, d)), rng.normal(size=(m, 2 * d))[:, ::2]
        costs = scipy.spatial.distance.cdist(a, b, theirs)
        for maximize in (False, True):
            for cut in (False, True):
                matrix = np.floor(10 * costs if metric != "squared" else 100 * costs) if cut else costs
                found = coalesce.solve_assignment(coalesce.Points(10 * a if cut else a, 10 * b if cut else b, metric, floor=cut), maximize)
                r, c = scipy.optimize.linear_sum_assignment(matrix, maximize)
                assert found.value == pytest.approx(matrix[r, c].sum(), abs=1e-6) and found.proven
                assert matrix[found.row_ind, found.col_ind].sum() == pytest.approx(found.value, abs=1e-6)
    limited = coalesce.solve_assignment(coalesce.Points([[0.0], [9.0]], [[1.0], [30.0]]), limit=4)
    assert limited.column.tolist() == [0, -1]


def test_points_refuse():
    for points, words in ((lambda: coalesce.Points([[0]], [[0]], "chebyshev"), "metric"), (lambda: coalesce.Points([[0]], [[0, 1]]), "shapes"),
                          (lambda: coalesce.solve_assignment(coalesce.Points([[0]], [[np.inf]])), "coordinate"),
                          (lambda: coalesce.solve_assignment(coalesce.Points([[0]], [[1]]), forbidden=[[True]]), "forbidden")):
        with pytest.raises(ValueError, match=words):
            points()
    assert coalesce.solve_assignment(coalesce.Points(np.zeros((0, 2)), np.zeros((3, 2)))).value == 0


def partitions(agents):
    if not agents:
        yield []
        return
    first, rest = agents[0], agents[1:]
    for k in range(len(rest) + 1):
        for others in itertools.combinations(rest, k):
            left = [a for a in rest if a not in others]
            for p in partitions(left):
                yield [[first, *others], *p]


def test_sizes():
    rng = np.random.default_rng(3)
    values = rng.integers(-50, 100, 64)
    values[0] = 0
    for sizes, allowed in (("1-3", {1, 2, 3}), ([2], {2}), ("2-", {2, 3, 4, 5, 6}), (range(1, 3), {1, 2})):
        best = max(sum(values[sum(1 << a for a in block)] for block in p) for p in partitions(list(range(6))) if all(len(b) in allowed for b in p))
        found = coalesce.solve_csg(values, sizes=sizes)
        assert found.value == best and all(len(b) in allowed for b in found.structure) and found.proven
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_csg(values, sizes=[4])
    with pytest.raises(ValueError, match="sizes"):
        coalesce.solve_csg(values, sizes="many")


def test_constraints():
    rng = np.random.default_rng(5)
    values = rng.integers(-50, 100, 64)
    values[0] = 0

    def connected(block):
        reached = {block[0]}
        for _ in block:
            reached |= {a + s for a in reached for s in (-1, 1) if a + s in block}
        return len(reached) == len(block)

    chain = [range(6)]
    for given, allowed in (
        ({"blocks": 3}, lambda p: len(p) == 3),
        ({"blocks": "2-4", "together": [[0, 5]]}, lambda p: 2 <= len(p) <= 4 and all((0 in b) == (5 in b) for b in p)),
        ({"separate": [(0, 1, 2)], "minimize": True}, lambda p: all(sum(a < 3 for a in b) < 2 for b in p)),
        ({"edges": chain, "sizes": "1-3"}, lambda p: all(connected(b) and len(b) < 4 for b in p)),
    ):
        sums = [sum(values[sum(1 << a for a in block)] for block in p) for p in partitions(list(range(6))) if allowed(p)]
        found = coalesce.solve_csg(values, **given)
        assert found.value == (min if "minimize" in given else max)(sums) and allowed(found.structure) and found.proven
        assert found.value == coalesce.solve_coalitions({tuple(k for k in range(6) if c >> k & 1): int(values[c]) for c in range(1, 64)}, **given).total
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_csg(values, blocks=7)
    with pytest.raises(ValueError, match="together"):
        coalesce.solve_csg(values, together=[[6, 1]])


def test_checkpoint(tmp_path):
    values = np.random.default_rng(4).integers(0, 1000, 1 << 12)
    values[0] = 0
    path = tmp_path / "levels"
    first = coalesce.solve_csg(values, algorithm="apart", checkpoint=path)
    assert path.stat().st_size > 1000
    told = []
    again = coalesce.solve_csg(values, algorithm="apart", checkpoint=path, resume=True, progress=told.append)
    assert again.value == first.value == coalesce.solve_csg(values).value and again.proven
    with pytest.raises(ValueError, match="there is such a file"):  # it is there
        coalesce.solve_csg(values, algorithm="apart", checkpoint=path)
    values[7] += 1
    with pytest.raises(ValueError):  # of another instance
        coalesce.solve_csg(values, algorithm="apart", checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="checkpoint"):
        coalesce.solve_csg(values, resume=True)


def best_revenue(bids, without=None):
    best = Decimal(0)
    for k in range(len(bids) + 1):
        for chosen in itertools.combinations([b for b in bids if b[2] != without], k):
            goods = [g for _, gs, _ in chosen for g in gs]
            if len(goods) == len(set(goods)) and len({b[2] for b in chosen}) == len(chosen):
                best = max(best, sum((Decimal(str(p)) for p, _, _ in chosen), Decimal(0)))
    return best


def test_payments():
    rng = np.random.default_rng(5)
    for _ in range(12):
        bids = [(f"{rng.integers(1, 200) / 10}", [f"g{g}" for g in rng.choice(5, rng.integers(1, 4), replace=False)], f"b{rng.integers(4)}") for _ in range(7)]
        plain = coalesce.solve_auction(bids)
        assert plain.revenue == best_revenue(bids) and plain.payments is None
        owners = [bids[k][2] for k in plain.winners]
        assert len(owners) == len(set(owners))
        paid = {rule: coalesce.solve_auction(bids, payments=rule) for rule in ("first", "vcg", "core")}
        assert sum(p.pays for p in paid["first"].payments) == plain.revenue
        for p in paid["vcg"].payments:
            others = plain.revenue - p.value
            assert p.pays == best_revenue(bids, without=bids[p.bids[0]][2]) - others
        assert sum(p.pays for p in paid["vcg"].payments) <= sum(p.pays for p in paid["core"].payments) <= plain.revenue
    with pytest.raises(ValueError, match="payments: found 'second'"):
        coalesce.solve_auction(bids, payments="second")
    with pytest.raises(ValueError, match="4 items"):
        coalesce.solve_auction([(1, ["x"], "b", 3)])
    assert coalesce.solve_auction([]).revenue == 0


def test_best_allocations():
    bids = [(5, ["a"]), (4, ["a", "b"]), (3, ["b"])]
    few, every = coalesce.solve_auction(bids, k_best=4), coalesce.solve_auction(bids, k_best=9)
    assert [(x.value, x.winners) for x in few.best] == [(8, [0, 2]), (5, [0]), (4, [1]), (3, [2])] and not few.complete
    assert len(every.best) == 5 and every.complete and every.winners == every.best[0].winners


def test_units_and_costs():
    bids = [(6, {"a": 2, "b": 1}, "x"), (5, ["a"], "y"), (4, {"b": 2}, "z")]
    sold = coalesce.solve_auction(bids, units={"a": 3, "b": 2}, proof=True)
    assert sold.revenue == 11 and sold.winners == [0, 1] and sold.units == [3, 2] and sold.row_proof
    bought = coalesce.solve_auction(bids, units=2, minimize=True, k_best=2)
    assert bought.revenue == 10 and bought.winners == [0, 2] and bought.minimize and [x.value for x in bought.best] == [10, 15]
    assert coalesce.solve_auction([(5, ["a", "b"]), (4, ["a"]), (3, ["b"])], minimize=True, sell_all=True).revenue == 5
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_auction(bids, units={"a": 9}, minimize=True)
    with pytest.raises(ValueError, match="good 'q'"):
        coalesce.solve_auction(bids, units={"q": 1})
    with pytest.raises(ValueError, match="several units of a good"):
        coalesce.solve_auction(bids)


def test_reserves_and_limits():
    bids = [(5, ["x"], "ann"), (4, ["y"], "ann"), (3, ["z"], "ann"), ("2.5", ["z"])]
    assert coalesce.solve_auction(bids).winners == [0, 3]
    assert coalesce.solve_auction(bids, most={"ann": 2}).winners == [0, 1, 3]
    assert coalesce.solve_auction(bids, most={"ann": 5}).winners == [0, 1, 2]
    kept = coalesce.solve_auction(bids, most={"ann": 5}, reserves=[("4.5", ["y"]), (5, ["x"])])
    assert kept.winners == [0, 2] and kept.kept == [["y"]] and kept.revenue == 8 and kept.value == 12.5
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_auction([(5, ["x", "y"]), (9, ["y", "z"])], sell_all=True)
    assert coalesce.solve_auction([(5, ["x", "y"]), (9, ["y", "z"]), (1, ["x"])], sell_all=True).winners == [1, 2]
    with pytest.raises(ValueError, match="reserve"):
        coalesce.solve_auction(bids, reserves=[(-1, ["x"])])
    with pytest.raises(ValueError, match="no goods"):
        coalesce.solve_auction(bids, reserves=[(1, [])])


def draw_auction():
    rng = np.random.default_rng(6)
    return [(int(rng.integers(50, 150)) * 2, rng.choice(60, 4, replace=False).tolist()) for _ in range(260)]


@pytest.mark.parametrize("call", [
    lambda **o: coalesce.solve_qubo(np.random.default_rng(6).integers(-100, 101, (300, 300)), time_limit=0.5, **o),
    lambda **o: coalesce.solve_csg(np.random.default_rng(6).integers(0, 1000, 1 << 16), algorithm="apart", **o),
    lambda **o: coalesce.solve_auction(draw_auction(), time_limit=2, **o),
    lambda **o: coalesce.solve_assignment(coalesce.Points(*np.random.default_rng(6).random((2, 12000, 2))), device="host", **o),
], ids=["qubo", "csg", "auction", "assignment"])
def test_progress(call, capsys):
    told = []
    result = call(progress=told.append)
    assert told and all(isinstance(i, coalesce.Incumbent) for i in told)
    assert [i.seconds for i in told] == sorted(i.seconds for i in told)
    assert len(result.incumbents) >= 1

    def fails(_):
        raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        call(progress=fails)
    pytest.importorskip("tqdm")
    assert call(progress=True).value is not None
    assert "%" in capsys.readouterr().err


def test_plot_and_notebooks():
    result = coalesce.solve_qubo(np.random.default_rng(7).integers(-9, 10, (40, 40)), time_limit=1)
    table = result._repr_html_()
    assert "<table>" in table and "value" in table and "host" in table and result.reason.split()[0] in table
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = result.plot()
    line = axes.get_lines()[0]
    assert line.get_ydata()[-1] == result.value and axes.get_xlabel() == "seconds"
    assert coalesce.solve_csg([0, 1, 2, 4]).plot(axes) is axes


def test_tune(tmp_path):
    path = tmp_path / "deep" / "tuned.json"
    told = []
    found = coalesce.tune("assignment", family="hostscan", device="host", budget=6, output=path, progress=told.append)
    assert [s["family"] for s in found] == ["assignment/hostscan"] and found[0]["tried"] > 0 and found[0]["wrong"] == 0
    assert told and told[-1].seconds > 0 and path.exists() == bool(found[0]["winners"])
    with pytest.raises(ValueError, match="problem"):
        coalesce.tune("sorting", output=path)
    with pytest.raises(ValueError, match="family"):
        coalesce.tune("csg", family="none such", output=path)
    with pytest.raises(ValueError, match="winners"):
        coalesce.use_tuning(tmp_path / "missing")
    coalesce.use_tuning(None)
    assert coalesce.linear_sum_assignment([[1, 0], [0, 1]])[1].tolist() == [1, 0]


MATRIX = [[1.0, 2.0], [3.0, 5.0]]
BIDS = [(5, ["x"], "ann"), (4, ["y"])]
WRONG = {
    "assignment": (lambda **o: coalesce.solve_assignment(np.array(MATRIX), **o), [
        dict(k_best=2.5), dict(k_best=True), dict(k_best=0), dict(k_best=2**40), dict(device=-5), dict(device="gpu"), dict(device=7), dict(device=1.5),
        dict(device=True), dict(device="cuda:99999999999"), dict(algorithm="lapjv"), dict(algorithm=""), dict(algorithm=3), dict(limit="3"), dict(limit=np.nan),
        dict(forbidden=[[0, 1], [1, 0]]), dict(forbidden=np.ones((3, 3), bool)), dict(start=(np.zeros(2), np.zeros(3))), dict(bottleneck="x"),
        dict(bottleneck=True, limit=3), dict(maximize="no"), dict(maximize=2), dict(check=None), dict(duals="u"), dict(time_limit=True), dict(time_limit=0),
        dict(time_limit="1"), dict(time_limit=np.nan), dict(progress=5), dict(algorithm="tree")]),
    "qubo": (lambda **o: coalesce.solve_qubo([[-1.0, 2], [0, -1]], **o), [
        dict(seed=-1), dict(seed=2**64), dict(seed=1.5), dict(seed=True), dict(work=-1), dict(work=2**70), dict(solutions=-1), dict(solutions=2**33),
        dict(distance=-1), dict(target=np.nan), dict(target=np.inf), dict(target="1"), dict(time_limit=True), dict(time_limit=-1), dict(algorithm="nonsense"),
        dict(algorithm=""), dict(device="nonsense"), dict(device=7), dict(device=-2), dict(maximize="no"), dict(ising="x"), dict(progress="bar")]),
    "csg": (lambda values=(0, 1, 1, 3), **o: coalesce.solve_csg(values, **o), [
        dict(sizes=[]), dict(sizes=""), dict(sizes=[2.5]), dict(sizes=[0]), dict(sizes=[41]), dict(sizes=7), dict(sizes="x"), dict(agents=3), dict(agents=2.5),
        dict(values=len), dict(values=len, agents=25.5), dict(values=len, agents=0), dict(values=len, agents=-1), dict(values=len, agents=True),
        dict(values=[0, 1, 2]), dict(values=[]), dict(values="ab"), dict(values=None), dict(values=lambda a: "x", agents=2), dict(values=lambda a: None, agents=2),
        dict(values=[0, np.nan]), dict(values=[0, np.inf]), dict(values=np.array([0, 2**64 - 1], np.uint64)), dict(values=[0, 2**63 - 1, 2**63 - 1, 0]),
        dict(algorithm="x"), dict(algorithm="branch"), dict(resume=True), dict(resume="x"), dict(checkpoint="/nowhere/at/all"), dict(device="x"), dict(time_limit="x")]),
    "auction": (lambda bids=BIDS, **o: coalesce.solve_auction(bids, **o), [
        dict(bids=[(5, "apple")]), dict(bids=[(5, b"apple")]), dict(bids=["ab"]), dict(bids="ab"), dict(bids=None), dict(bids=3), dict(bids=[{"price": 1, "goods": ["x"]}]),
        dict(bids=[(1, 5)]), dict(bids=[(1, None)]), dict(bids=[(1, [])]), dict(bids=[(1, ["x", "x"])]), dict(bids=[(1, [["x"]])]), dict(bids=[(1, [None])]),
        dict(bids=[(1, [np.nan])]), dict(bids=[(1,)]), dict(bids=[5]), dict(bids=[("x", ["a"])]), dict(bids=[(None, ["a"])]), dict(bids=[(True, ["a"])]),
        dict(bids=[(float("inf"), ["a"])]), dict(bids=[(1e300, ["a"])]), dict(bids=[(1, ["a"], None)]), dict(bids=[(1, ["a"], [])]), dict(most={"bob": 1}), dict(most={"ann": -1}),
        dict(most={"ann": 1.5}), dict(most=3), dict(reserves=[(1, "x")]), dict(reserves=[("x",)]), dict(reserves=[(-1, ["x"])]), dict(reserves=5),
        dict(sell_all="no"), dict(payments="second"), dict(payments=""), dict(payments=1), dict(algorithm="x"), dict(time_limit=[]),
        dict(bids=[(1, [f"g{k}", f"g{k + 1}"]) for k in range(40)], algorithm="apart")]),
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_arguments(problem):
    call, wrong = WRONG[problem]
    call()
    for options in wrong:
        try:
            found = call(**options)
        except (ValueError, TypeError) as e:
            assert not isinstance(e, coalesce.InfeasibleError) and str(e), options
        else:
            raise AssertionError(f"{options} was taken: {found}")


def test_arguments_of_other_kinds():
    """What NumPy and others have in place of integers, numbers and truth values."""
    a = np.array(MATRIX)
    for options in (dict(device=np.int64(-1)), dict(k_best=np.int32(2)), dict(limit=np.float32(9)), dict(time_limit=np.int64(2)), dict(maximize=np.False_), dict(maximize=0)):
        assert coalesce.solve_assignment(a, **options).value == 5
    assert coalesce.linear_sum_assignment(a, 1)[1].tolist() == [0, 1] and coalesce.linear_sum_assignment(a, maximize=np.True_)[1].tolist() == [0, 1]
    for maximize in ("no", 2, None):
        with pytest.raises(TypeError, match="maximize"):
            coalesce.linear_sum_assignment(a, maximize)
    assert coalesce.solve_qubo([[-1.0]], seed=np.uint64(2**64 - 1), target=Decimal(-1)).seed == 2**64 - 1
    assert coalesce.solve_csg(np.array([0, 2**61, 1, 3], np.uint64)).report["value"] == 2**61 + 1
    assert coalesce.solve_auction((bid for bid in [(np.int64(3), np.array([1, 2])), (np.float32(0.5), {3}, 7)])).revenue == Decimal("3.5")


def test_nothing_sold():
    with pytest.raises(coalesce.InfeasibleError) as e:
        coalesce.solve_auction([(3, ["x", "y"]), (4, ["y", "z"]), (2, ["x", "z"], "ann")], sell_all=True, reserves=[(1, ["y", "z"])])
    report = e.value.report
    assert report["value"] is None and report["solution"] is None and report["proven"] and report["proof"]["won"]


UNUSABLE = {  # costs, and what the error says of them
    "masked": (np.ma.masked_array(np.eye(3), np.eye(3) > 0), TypeError, "masked entries.*filled"),
    "an object that is no number": ([[1, None], [2, 3]], TypeError, r"None at \[0, 1\]"),
    "complex": (np.eye(3) * 1j, TypeError, "complex128"),
    "dates": (np.zeros((2, 2), "M8[s]"), TypeError, "M8|datetime64"),
    "bytes": (np.array([[b"1"]]), TypeError, "S1"),
    "ragged": ([[1, 2], [3]], ValueError, "inhomogeneous|sequence"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_costs(name):
    costs, error, text = UNUSABLE[name]
    for solve in (coalesce.linear_sum_assignment, coalesce.solve_assignment, lambda m: coalesce.solve_assignment(m, supply=1), lambda m: coalesce.emd([], [], m),
                  lambda m: coalesce.emd2([], [], m), lambda m: coalesce.solve_qubo(m, work=1000), coalesce.lapx.lapjv, coalesce.lapx.lapjvr):
        with pytest.raises(error, match=text):
            solve(costs)


def test_subclasses_of_arrays_and_objects():
    a = np.arange(12.0).reshape(3, 4)
    for same in (np.ma.masked_array(a), np.ma.masked_array(a, False), a.astype(object), [[Decimal(x) for x in row] for row in a.tolist()]):
        assert coalesce.lapx.lapjv(same, extend_cost=True)[0] == 15
        assert coalesce.emd2([], [], same) == pytest.approx(coalesce.emd2([], [], a))
        assert all((x == y).all() for x, y in zip(coalesce.linear_sum_assignment(same), coalesce.linear_sum_assignment(a)))
    assert [x.tolist() for x in coalesce.linear_sum_assignment(np.ma.masked_array(a), tensors=True)] == [[0, 1, 2], coalesce.linear_sum_assignment(a)[1].tolist()]


def test_errors_name_the_matrix_and_the_mask():
    batch = np.zeros((3, 2, 2))
    batch[1] = np.inf
    with pytest.raises(ValueError, match="infeasible: matrix 1 of the batch"):
        coalesce.linear_sum_assignment(batch)
    for amounts in ({}, {"supply": 1}):
        with pytest.raises(ValueError, match="forbidden: found the shape"):
            coalesce.solve_assignment(np.eye(3), forbidden=np.zeros((1, 3), bool), **amounts)
        with pytest.raises(TypeError, match="forbidden: found an array of int64"):
            coalesce.solve_assignment(np.eye(3), forbidden=np.zeros((3, 3), np.int64), **amounts)
