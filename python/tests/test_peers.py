"""Functions with other packages' names, beside these packages: lapx itself, SciPy's own tests, a stand-in for torch."""

import sys

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph.tests import test_matching as theirs

import coalesce
from coalesce import lapx

# SciPy's own tests, run against ours.
theirs.min_weight_full_bipartite_matching = coalesce.min_weight_full_bipartite_matching
for name in dir(theirs):
    if name.startswith("test_min_weight"):
        globals()[name] = getattr(theirs, name)

DENSE = ["lapjv", "lapjvx", "lapjvxa", "lapjvc", "lapjvs", "lapjvsa", "lapjvr", "lapjvh"]
BATCH = ["lapjvx_batch", "lapjvxa_batch", "lapjvs_batch", "lapjvsa_batch", "lapjvr_batch", "lapjvh_batch"]
LIMITED = {"lapjv", "lapjvx", "lapjvxa", "lapjvr", "lapjvh", "lapjvx_batch", "lapjvxa_batch", "lapjvr_batch", "lapjvh_batch"}


def same(found, expected):
    """Compares answers whose optimum is unique: values, shapes, types."""
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for f, e in zip(found, expected):
            same(f, e)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert float(found) == pytest.approx(float(expected), rel=1e-12)


def by_rows(answer, options):
    """An answer for a tall matrix with its rows ascending, which lapx lists by their columns, and one integer type."""
    cost, pairs = ([], answer) if options.get("return_cost") is False else ([answer[0]], answer[1] if len(answer) == 2 else answer[1:])
    several = isinstance(pairs, list) or isinstance(pairs, tuple) and isinstance(pairs[0], list)
    lists = [np.column_stack(p) for p in zip(*pairs)] if isinstance(pairs, tuple) and several else pairs if several else [np.column_stack(pairs) if isinstance(pairs, tuple) else pairs]
    return [*cost, *(p[np.argsort(p[:, 0])].astype(np.int64) for p in lists)]


@pytest.mark.parametrize("name", DENSE + BATCH)
def test_lapx(name):
    theirs_of, ours = getattr(pytest.importorskip("lap"), name), getattr(lapx, name)
    rng = np.random.default_rng(3)
    for shape in ((1, 1), (4, 4), (30, 30), (5, 9), (9, 5), (70, 70)):
        batch = (3, *shape) if name in BATCH else shape
        for dtype in (np.float64, np.float32):
            a = rng.random(batch).astype(dtype)
            options = [dict(return_cost=False), {}]
            if name != "lapjvc":
                options = [dict(o, extend_cost=True) for o in options]
            if name in LIMITED:
                options += [dict(cost_limit=0.2), dict(cost_limit=0.5, return_cost=False), dict(cost_limit=-0.1)]
            if name.startswith(("lapjvr", "lapjvh")):
                options += [dict(extend_cost=True, output="pairs", precision="float64")]
            if name in ("lapjvs", "lapjvsa", "lapjvs_batch", "lapjvsa_batch"):
                options = [dict(o, prefer_float32=False) for o in options]
            if name == "lapjvs":
                options += [dict(jvx_like=False, prefer_float32=False)]
            for o in options:
                found, expected = ours(a, **o), theirs_of(a, **o)
                if shape == (9, 5) and name != "lapjv" and o.get("jvx_like", True):
                    found, expected = by_rows(found, o), by_rows(expected, o)
                same(found, expected)


def test_lapx_refuses():
    for function in (lapx.lapjv, lapx.lapjvx, lapx.lapjvr):
        for cost, options in ((np.zeros((2, 3)), {}), (np.zeros(3), {}), (np.zeros((2, 2)), dict(cost_limit=np.nan)), (np.zeros((2, 2)), dict(cost_limit=-np.inf))):
            with pytest.raises(ValueError):
                function(cost, **options)
    with pytest.raises(ValueError):
        lapx.lapjvr([[np.inf]])
    assert lapx.lapjv([[np.inf, 1], [np.inf, 2]])[0] == np.inf
    assert lapx.lapjvc(np.array([[np.nan, 1], [2, -np.inf]]))[0] == 3


def test_lapx_integers_and_limits():
    cost = np.array([[1000, 2, 11], [6, 1000, 1], [5, 12, 1000]])
    for kind in (np.int64, np.int32, np.float32, np.float64):
        total, x, y = lapx.lapjv(cost.astype(kind), cost_limit=4.99)
        assert total == 3 and x.tolist() == [1, 2, -1] and y.tolist() == [-1, 0, 1]


def test_lapmod():
    lap = pytest.importorskip("lap")
    rng = np.random.default_rng(4)
    problems = []
    for n in (1, 8, 60):
        allowed = rng.random((n, n)) < 0.3
        np.fill_diagonal(allowed, True)
        a = scipy.sparse.csr_array(np.where(allowed, rng.random((n, n)) + 0.1, 0))
        problems.append((n, a.data, a.indptr, a.indices))
    for problem in problems:
        same(lapx.lapmod(*problem), lap.lapmod(*problem))
    same(lapx.lapmod_batch(problems), lap.lapmod_batch(problems))


def test_limits_agree_with_results():
    """The matchings of columns, which need no job, against solve_assignment's, which are certified."""
    from coalesce._assignment import columns
    rng = np.random.default_rng(5)
    for k in range(300):
        rows, cols = rng.integers(1, 9, 2)
        a = rng.integers(-5, 6, (rows, cols)).astype(rng.choice([np.int8, np.int32, np.int64, np.float32, np.float64]))
        limit, maximize = float(rng.integers(-5, 6)) + rng.choice([0, 0.5]), bool(k % 2)
        column = columns(a, limit, maximize)
        found = coalesce.solve_assignment(a, maximize, limit=limit)
        worth = sum(float(a[i, j]) - limit for i, j in enumerate(column) if j >= 0)
        assert worth == pytest.approx(sum(float(a[i, j]) - limit for i, j in enumerate(found.column) if j >= 0)), (a, limit, maximize)


def test_no_torch():
    if "torch" not in sys.modules:
        with pytest.raises(ImportError):
            coalesce.batch_linear_assignment(np.zeros((1, 2, 2)))


def test_largest_matchings():
    """Where no full matching exists: lapjvc's pairs, and infinite costs of batches."""
    lap = pytest.importorskip("lap")
    rng = np.random.default_rng(4)
    for _ in range(200):
        n, m = rng.integers(1, 9, 2)
        a = rng.integers(-20, 20, (n, m)).astype(float)
        a[rng.random((n, m)) < 0.7] = rng.choice([np.nan, np.inf, -np.inf])
        ours, theirs = lapx.lapjvc(a), lap.lapjvc(a)
        assert len(ours[1]) == len(theirs[1]) and ours[0] == theirs[0]
    batch = np.stack([np.eye(3), np.full((3, 3), np.inf)])
    for name in ("lapjvx_batch", "lapjvxa_batch"):
        assert getattr(lapx, name)(batch)[0].tolist() == getattr(lap, name)(batch)[0].tolist() == [0, np.inf]
