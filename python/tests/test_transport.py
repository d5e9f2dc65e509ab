"""Supplies and capacities, and optimal transport."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

import coalesce


def copies(cost, supply, capacity):
    """The least cost of a matching of one row and one column for each unit."""
    rows, cols = np.repeat(np.arange(len(supply)), supply), np.repeat(np.arange(len(capacity)), capacity)
    whole = cost[np.ix_(rows, cols)]
    i, j = linear_sum_assignment(whole)
    return whole[i, j].sum()


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
def test_flows_cost_what_matchings_of_copies_cost(kind):
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, m = rng.integers(1, 8, 2)
        cost = (rng.random((n, m)) * 100).astype(kind)
        supply, capacity = rng.integers(0, 5, n), rng.integers(0, 5, m)
        r = coalesce.solve_assignment(cost, supply=supply, capacity=capacity)
        assert r.proven
        assert r.value == pytest.approx(float(copies(cost.astype(np.float64), supply, capacity)), rel=1e-9)
        plan = r.plan
        assert plan.sum() == min(supply.sum(), capacity.sum())
        assert (plan.sum(1) <= supply).all() and (plan.sum(0) <= capacity).all()
        assert (r.sparse.toarray() == plan).all()
        assert (cost - r.u[:, None] - r.v[None, :] >= -1e-9).all()


def test_one_number_stands_for_all_and_unsaid_amounts_are_one():
    cost = np.array([[4, 1], [2, 0], [3, 5]])
    assert coalesce.solve_assignment(cost, capacity=2).plan.sum(1).tolist() == [1, 1, 1]
    assert coalesce.solve_assignment(cost, supply=2, capacity=[1, 5]).plan.sum() == 6
    assert coalesce.solve_assignment(cost, supply=1, maximize=True).value == 9


def test_costs_that_forbid():
    cost = np.array([[1, np.inf], [2, np.inf]])
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.solve_assignment(cost, supply=[1, 1])
    assert coalesce.solve_assignment(cost, supply=[1, 1], capacity=[2, 1]).value == 3
    assert coalesce.solve_assignment(np.array([[1, 5], [2, 9]]), forbidden=[[False, True], [False, False]], capacity=2).value == 3
    large = np.array([[2**31 - 1, 5]], np.int32)
    assert coalesce.solve_assignment(large, supply=2).value == 2**31 + 4


@pytest.mark.parametrize("bad", [{"supply": [1]}, {"supply": [-1, 1]}, {"capacity": [[1, 1]]}, {"supply": 1, "k_best": 2}, {"supply": 1, "bottleneck": True},
                                 {"supply": 1, "limit": 3}, {"supply": [2**61, 1]}])
def test_what_is_refused(bad):
    with pytest.raises(ValueError):
        coalesce.solve_assignment(np.ones((2, 2)), **bad)


def test_real_amounts_are_for_emd():
    with pytest.raises(TypeError, match="emd"):
        coalesce.solve_assignment(np.ones((2, 2)), supply=[0.5, 0.5])


def test_emd_is_the_linear_program():
    rng = np.random.default_rng(5)
    for _ in range(25):
        n, m = rng.integers(1, 12, 2)
        a, b, cost = rng.random(n), rng.random(m), rng.random((n, m))
        a, b = a / a.sum(), b / b.sum()
        plan, log = coalesce.emd(a, b, cost, log=True)
        equal = np.zeros((n + m, n * m))
        for i in range(n):
            equal[i, i * m:(i + 1) * m] = 1
        for j in range(m):
            equal[n + j, j::m] = 1
        want = linprog(cost.ravel(), A_eq=equal[:-1], b_eq=np.concatenate((a, b))[:-1], method="highs").fun
        assert log["cost"] == pytest.approx(want, rel=1e-9)
        assert np.allclose(plan.sum(1), a, atol=1e-15) and np.allclose(plan.sum(0), b, atol=1e-15)
        assert (cost - log["u"][:, None] - log["v"][None, :]).min() > -1e-12
        assert coalesce.emd2(a, b, cost) == log["cost"]


def test_equal_masses_are_an_assignment():
    cost = np.random.default_rng(1).random((30, 30))
    i, j = linear_sum_assignment(cost)
    assert coalesce.emd2([], [], cost) == pytest.approx(cost[i, j].sum() / 30, rel=1e-12)


def test_batches_of_emd():
    rng = np.random.default_rng(2)
    cost = rng.random((3, 4, 5))
    a, b = np.full((3, 4), 0.25), np.full((3, 5), 0.2)
    plan = coalesce.emd(a, b, cost)
    assert plan.shape == cost.shape
    assert coalesce.emd2(a, b, cost).tolist() == [coalesce.emd2(a[k], b[k], cost[k]) for k in range(3)]


def test_emd_refuses():
    for a, b, cost in (([1, -1], [0, 0], np.ones((2, 2))), ([1, 1], [3, 0], np.ones((2, 2))), ([1], [1, 1], np.ones((2, 2))), ([1], [1], np.ones(1)), ([np.nan, 1], [1, 1], np.ones((2, 2)))):
        with pytest.raises(ValueError):
            coalesce.emd(a, b, cost)
    with pytest.raises(ValueError, match="equal sums"):
        coalesce.emd([1, 1], [0, 0], np.ones((2, 2)), check_marginals=False)
    assert coalesce.emd([0, 0], [0, 0], np.ones((2, 2))).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300])
def test_masses_of_any_size(size):
    cost = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert coalesce.emd([size, size], [size, size], cost).tolist() == [[size, 0], [0, size]]


def test_gradients_of_emd2():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    a, b, cost = (torch.tensor(x / x.sum() if x.ndim == 1 else x, requires_grad=True) for x in (rng.random(4), rng.random(4), rng.random((4, 4))))
    loss = coalesce.emd2(a, b, cost)
    loss.backward()
    plan, log = coalesce.emd(a, b, cost, log=True)
    assert torch.allclose(cost.grad, plan)
    assert torch.allclose(a.grad, log["u"] - log["u"].mean())


@pytest.mark.parametrize("metric", ["euclidean", "squared", "manhattan"])
def test_points_in_place_of_costs(metric):
    rng = np.random.default_rng(8)
    for n, m in (1, 1), (7, 9), (60, 40), (600, 700):
        x, y, a, b = rng.random((n, 3)), rng.random((m, 3)), rng.random(n), rng.random(m)
        a, b = a / a.sum(), b / b.sum()
        points = coalesce.Points(x, y, metric)
        gap = x[:, None] - y[None]
        costs = {"euclidean": np.sqrt((gap**2).sum(-1)), "squared": (gap**2).sum(-1), "manhattan": np.abs(gap).sum(-1)}[metric]
        cost, log = coalesce.emd2(a, b, points, return_matrix=True)
        assert cost == pytest.approx(coalesce.emd2(a, b, costs), rel=1e-12)
        assert np.allclose(log["G"].sum(1), a, atol=1e-15) and np.allclose(log["G"].sum(0), b, atol=1e-15)
        assert (costs - log["u"][:, None] - log["v"][None, :]).min() > -1e-12
    flow = coalesce.solve_assignment(coalesce.Points([[0.0], [3.0]], [[1.0], [2.0]]), supply=[2, 1], capacity=[1, 2])
    assert flow.plan.tolist() == [[1, 1], [0, 1]] and flow.value == 4


def test_equal_masses_are_a_matching():
    rng = np.random.default_rng(9)
    costs = rng.random((30, 30))
    plan, log = coalesce.emd([], [], costs, log=True)
    i, j = linear_sum_assignment(costs)
    assert (np.argmax(plan, 1) == j).all() and plan.sum() == pytest.approx(1)
    assert log["cost"] == pytest.approx(costs[i, j].mean(), rel=1e-12)
    assert (costs - log["u"][:, None] - log["v"][None, :]).min() > -1e-12
