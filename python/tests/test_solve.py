"""Answers with certificates, of all four problems, and their errors."""

import itertools
from decimal import Decimal

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import coalesce


def assert_duals(a, result, maximize):
    slack = a - result.u[:, None] - result.v[None, :]
    if maximize:
        slack = -slack
    assert (slack >= -1e-9).all()
    assert result.u.sum() + result.v.sum() == pytest.approx(result.value)
    assert slack[result.row_ind, result.col_ind] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.float32, np.float64])
def test_duals_prove_the_value(dtype, maximize):
    rng = np.random.default_rng(2)
    for shape in ((1, 1), (5, 5), (4, 9), (9, 4), (300, 280)):
        a = (rng.random(shape) * 1000).astype(dtype)
        result = coalesce.solve_assignment(a, maximize)
        assert result.proven and result.device == "host" and not result.infeasible
        assert result.gap <= 1e-9
        r, c = scipy.optimize.linear_sum_assignment(a, maximize)
        assert result.value == pytest.approx(a[r, c].astype(float).sum())
        assert_duals(a.astype(float), result, maximize)


def test_forbidden_and_infeasible():
    a = np.array([[1, 2], [3, 9]])
    assert coalesce.solve_assignment(a, forbidden=[[False, True], [False, False]]).value == 10
    assert coalesce.solve_assignment(a, True, forbidden=[[True, False], [False, False]]).value == 5
    with pytest.raises(coalesce.InfeasibleError) as e:
        coalesce.solve_assignment(a, forbidden=[[True, True], [False, False]])
    assert e.value.report[0]["certificate"]["hall"] == {"side": "rows", "members": [0], "partners": []}
    with pytest.raises(ValueError, match="shape"):
        coalesce.solve_assignment(a, forbidden=[True])
    some = coalesce.solve_assignment(np.array([[[1.0]], [[np.inf]]]))
    assert [r.infeasible for r in some] == [False, True] and some[0].value == 1 and some[1].value is None


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 5), (5, 3)])
def test_k_best_and_bottleneck_against_all_matchings(shape, maximize):
    rng = np.random.default_rng(4)
    for dtype in (np.int32, np.float64):
        a = rng.integers(0, 30, shape).astype(dtype)
        if min(shape) > 1:
            a = np.where(rng.random(shape) < 0.15, -np.inf if maximize else np.inf, a.astype(float))
        wide = a if shape[0] <= shape[1] else a.T
        costs = [[wide[i, j] for i, j in enumerate(p)] for p in itertools.permutations(range(wide.shape[1]), wide.shape[0])]
        costs = [c for c in costs if np.isfinite(c).all()]
        if not costs:
            with pytest.raises(coalesce.InfeasibleError):
                coalesce.solve_assignment(a, maximize, bottleneck=True)
            continue
        sums = sorted((sum(c) for c in costs), reverse=maximize)
        for k in (1, 7, len(sums), len(sums) + 1):
            result = coalesce.solve_assignment(a, maximize, k_best=k)
            if k > 1:
                assert [m.value for m in result.best] == sums[:k] and result.complete == (k > len(sums))
                assert result.best[0].column.tolist() == result.column.tolist()
                assert len({tuple(m.column) for m in result.best}) == len(result.best)
                for m in result.best:
                    rows = np.flatnonzero(m.column >= 0)
                    assert a[rows, m.column[rows]].sum() == m.value
            assert result.value == sums[0] and result.proven
        worst = max(min(c) for c in costs) if maximize else min(max(c) for c in costs)
        result = coalesce.solve_assignment(a, maximize, bottleneck=True)
        found = a[result.row_ind, result.col_ind]
        assert result.value == worst == (found.min() if maximize else found.max())
        assert result.proven and result.gap == 0 and result.u is None and len(found) == min(shape)


def test_k_best_and_bottleneck_refuse():
    for wrong in ({"k_best": 0}, {"k_best": 2, "bottleneck": True}):
        with pytest.raises(ValueError, match="k_best"):
            coalesce.solve_assignment([[1]], **wrong)
    with pytest.raises(ValueError, match="k_best"):
        coalesce.solve_assignment(np.ones((2, 2, 2)), k_best=2)
    with pytest.raises(ValueError, match="limit"):
        coalesce.solve_assignment([[1]], limit=3, bottleneck=True)
    with pytest.raises(ValueError, match="Algorithm"):
        coalesce.solve_assignment([[1]], algorithm="host", bottleneck=True)
    with pytest.raises(coalesce.InfeasibleError) as e:
        coalesce.solve_assignment([[1, np.inf], [1, np.inf]], bottleneck=True)
    assert e.value.report[0]["certificate"]["hall"] == {"side": "rows", "members": [0, 1], "partners": [0]}
    some = coalesce.solve_assignment(np.array([[[1, 7], [9, 2]], [[5, 1], [1, 9]]]), bottleneck=True)
    assert [r.value for r in some] == [2, 1]


def test_limit_leaves_rows_unmatched():
    result = coalesce.solve_assignment([[1, 5], [5, 9]], limit=4)
    assert result.column.tolist() == [0, -1]
    assert result.row_ind.tolist() == [0] and result.col_ind.tolist() == [0]


def test_sparse_agrees_with_dense():
    rng = np.random.default_rng(3)
    for form in ("csr", "csc", "coo"):
        s = scipy.sparse.random(40, 50, 0.3, form, rng=rng, dtype=np.float64)
        dense = np.where(s.toarray() == 0, np.inf, s.toarray())
        assert coalesce.solve_assignment(s).value == pytest.approx(coalesce.solve_assignment(dense).value)
    zeros = scipy.sparse.csr_matrix((np.array([0, 0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert coalesce.solve_assignment(zeros).column.tolist() == [1, 0]


def test_repr():
    text = repr(coalesce.solve_assignment([[1, 2], [3, 5]]))
    assert "value 5" in text and "proven optimal" in text and "host" in text and "\n" not in text


def test_algorithms_and_devices():
    a = np.random.default_rng(4).random((20, 20))
    values = {coalesce.solve_assignment(a, algorithm=x).value for x in ("host", "paths", "sequential-tree", "reference")}
    assert len(values) == 1
    with pytest.raises(ValueError, match="Algorithm: found"):
        coalesce.solve_assignment(a, algorithm="none such")
    with pytest.raises(ValueError, match="device"):
        coalesce.solve_assignment(a, device="tpu")
    with pytest.raises(ValueError, match="cuda:99"):
        coalesce.solve_assignment(a, device="cuda:99")
    assert coalesce.devices()[0]["kind"] == "host"


def energies(q, values):
    return min(x @ q @ x for x in (np.array(p) for p in itertools.product(values, repeat=len(q))))


def test_qubo_dense_sparse_dict():
    rng = np.random.default_rng(5)
    for n in range(1, 9):
        q = rng.integers(-9, 10, (n, n))
        best = energies(q, (0, 1))
        of_dict = {(i, j): int(q[i, j]) for i in range(n) for j in range(n)}
        for form in (q, q.astype(np.float32), scipy.sparse.coo_matrix(q), of_dict):
            result = coalesce.solve_qubo(form, time_limit=5)
            assert result.value == best == result.x @ q @ result.x and result.proven
        assert coalesce.solve_qubo(-q, maximize=True).value == -best
        u = np.triu(q, 1)
        assert coalesce.solve_qubo(u, ising=True, time_limit=5).value == energies(u, (-1, 1))
    assert coalesce.solve_qubo({}).x.tolist() == []
    assert coalesce.solve_qubo(np.zeros((0, 0))).value == 0


def test_qubo_labels_solutions_and_errors():
    result = coalesce.solve_qubo({("a", "a"): -1, ("b", "b"): -1, ("b", "a"): 2}, solutions=2)
    assert sorted(tuple(s.x.tolist()) for s in result.solutions) == [(0, 1), (1, 0)]
    assert sum(result.sample.values()) == 1
    with pytest.raises(ValueError, match="square"):
        coalesce.solve_qubo(np.zeros((2, 3)))
    with pytest.raises(coalesce.CostError):
        coalesce.solve_qubo([[float("nan")]])
    with pytest.raises(TypeError):
        coalesce.solve_qubo([[1j]])


def hard(n=400):
    return np.random.default_rng(6).integers(-100, 101, (n, n))


def test_qubo_progress():
    told = []
    result = coalesce.solve_qubo(hard(), time_limit=1, progress=told.append)
    assert told and told[-1].value >= result.value
    assert coalesce.solve_qubo(hard(), time_limit=60, progress=lambda i: True).interrupted

    def fails(_):
        raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        coalesce.solve_qubo(hard(), time_limit=60, progress=fails)


def test_csg():
    values = [0, 3, 4, 9, 2, 6, 8, 12]
    result = coalesce.solve_csg(values)
    assert result.value == 12 and result.proven
    assert sorted(agent for block in result.structure for agent in block) == [0, 1, 2]
    worth = sum(values[sum(1 << agent for agent in block)] for block in result.structure)
    assert worth == 12
    assert coalesce.solve_csg(lambda s: -len(s) ** 2, 5).structure == [[0], [1], [2], [3], [4]]
    assert coalesce.solve_csg(np.array([0, -1.5], np.float32)).value == -1.5
    least = coalesce.solve_csg(values, minimize=True)
    sums = [values[7]] + [values[7 ^ k] + values[k] for k in (1, 2, 4)] + [values[1] + values[2] + values[4]]
    assert least.value == min(sums) and least.proven and least.minimize and result.minimize is None
    with pytest.raises(ValueError, match="2\\*\\*n"):
        coalesce.solve_csg([0, 1, 2])
    with pytest.raises(coalesce.CostError):
        coalesce.solve_csg([0, float("nan")])
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_csg([0, -np.inf])


def test_payoffs():
    values = [0, 3, 4, 9, 2, 6, 8, 13.5]
    assert coalesce.solve_csg(values, payoff="shapley").payoff["exact"] == ["13/3", "35/6", "10/3"]
    assert coalesce.solve_csg(values, payoff="nucleolus").payoff["values"] == [4.25, 6, 3.25]
    empty = coalesce.solve_csg([0, 0, 0, 4, 0, 4, 4, 5], payoff="core").payoff
    assert empty["exact"] is None and sorted(c["coalition"] for c in empty["balanced"]) == [3, 5, 6]
    assert coalesce.solve_coalitions({(0,): 1}, payoff="core").payoff["exact"] == ["1"]
    assert coalesce.solve_csg(values, minimize=True, payoff="shapley").payoff["exact"] == ["3", "4", "2"]
    for solve in (coalesce.solve_coalitions, coalesce.solve_csg):
        with pytest.raises(ValueError, match="Payoff"):
            solve({(0,): 1} if solve is coalesce.solve_coalitions else values, payoff="core", minimize=True)


def test_coalitions():
    values = {(0,): 1, (1,): "0.1", (2, 0): Decimal("2.5"), frozenset([1, 2]): 0.2, (0, 1, 2): 2, (50,): -7}
    alone = {(agent,): 0 for agent in range(3, 50)}
    found = coalesce.solve_coalitions({**values, **alone})
    assert found.proven and found.total == Decimal("-4.4") and [0, 2] in found.structure and len(found.structure) == 50
    assert coalesce.solve_coalitions({**values, **alone}, start=found.structure, target=-5).total >= -5
    few = {(0,): 0.1, (1,): 0.2, (0, 1): 0.3, (2,): 0}
    assert coalesce.solve_coalitions(few).total == Decimal("0.3")
    assert coalesce.solve_coalitions(few, blocks=3).structure == [[0], [1], [2]]
    assert coalesce.solve_coalitions(few, together=[[0, 1]]).structure == [[0, 1], [2]]
    assert coalesce.solve_coalitions({**few, (1, 2): -5}, minimize=True, separate=[(0, 1)]).total == Decimal("-4.9")
    assert coalesce.solve_coalitions({(0, 4): 3}, agents=6, missing=0).total == 3
    assert coalesce.solve_coalitions({(0,): 1, (1,): 1, (0, 1): 1}, sizes=[2]).constraints["sizes"] == "2"
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_coalitions(few, blocks="4-")
    with pytest.raises(coalesce.CostError, match="expected a number"):
        coalesce.solve_coalitions({(0,): float("nan")})
    for wrong in [{(): 1}, {(0, 0): 1}, {(0, 1): 1, (1, 0): 2}, {}]:
        with pytest.raises(ValueError, match="values: found"):
            coalesce.solve_coalitions(wrong)
    with pytest.raises(TypeError, match="expected a dict"):
        coalesce.solve_coalitions([0, 1])


def test_auction():
    result = coalesce.solve_auction([("4.5", ["x"]), (5, ["y"]), (Decimal(8), ["x", "y"]), (0.1, ("z",))])
    assert result.winners == [0, 1, 3] and result.revenue == Decimal("9.6") and result.proven
    with pytest.raises(ValueError, match="no goods"):
        coalesce.solve_auction([(1, [])])
    for price in (float("nan"), "4,5"):
        with pytest.raises(coalesce.CostError, match="expected a number"):
            coalesce.solve_auction([(price, ["x"])])
