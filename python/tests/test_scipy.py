"""linear_sum_assignment against SciPy's: values, errors, and SciPy's own tests."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.optimize.tests import test_linear_assignment as theirs

import coalesce

# SciPy's own tests, run against ours.
theirs.linear_sum_assignment = coalesce.linear_sum_assignment
from scipy.optimize.tests.test_linear_assignment import *  # noqa: E402,F401,F403

DTYPES = ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "g", ">i4", ">f8", ">i8"]


def draw(rng):
    """A matrix of a random type, shape, order and stride, and what was done to it."""
    rows, cols = rng.integers(0, 12, 2)
    if rng.random() < 0.02:
        rows, cols = rng.integers(40, 150, 2)
    dtype = np.dtype(str(rng.choice(DTYPES)))
    spread = int(rng.choice([2, 10, 100]))
    a = rng.integers(0, spread, (3 * rows + 3, 2 * cols + 2))
    if dtype.kind == "f":
        a = a * rng.choice([1.0, 0.1, rng.random()])
    if dtype.kind in "if" and rng.random() < 0.5:
        a = a - spread // 2
    a = a.astype(dtype)
    what = rng.choice(["plain", "fortran", "strided", "reversed", "transposed", "readonly"])
    if what == "strided":
        a = a[1:3 * rows + 1:3, 1:2 * cols + 1:2]
    else:
        a = a[:rows, :cols].copy()
    if what == "fortran":
        a = np.asfortranarray(a)
    elif what == "reversed":
        a = a[::-1, ::-1]
    elif what == "transposed":
        a = np.ascontiguousarray(a.T).T
    if dtype.kind == "f" and a.size and rng.random() < 0.3:
        a = a.copy(order="K")
        for _ in range(int(rng.integers(1, a.size + 1))):
            bad = [np.inf] * 6 + [-np.inf] * 6 + [np.nan] if rng.random() < 0.1 else [np.inf]
            a[tuple(rng.integers(0, s) for s in a.shape)] = rng.choice(bad)
    if what == "readonly":
        a.flags.writeable = False
    return a


def outcome(function, a, maximize):
    try:
        return function(a, maximize=maximize)
    except (ValueError, TypeError) as e:
        return e


@pytest.mark.parametrize("seed", range(10))
def test_random(seed):
    rng = np.random.default_rng(seed)
    solved = unique = 0
    for k in range(1000):
        a, maximize = draw(rng), bool(rng.random() < 0.5)
        if maximize and a.dtype.kind == "f":
            a = -a
        before = a.copy()
        expected = outcome(scipy.optimize.linear_sum_assignment, a, maximize)
        found = outcome(coalesce.linear_sum_assignment, a, maximize)
        where = f"seed {seed}, draw {k}: {a.dtype} {a.shape}, maximize={maximize}"
        np.testing.assert_array_equal(a, before, err_msg=where)
        if isinstance(expected, Exception):
            words = "infeasible" if "infeasible" in str(expected) else "invalid" if "invalid" in str(expected) else ""
            assert isinstance(found, type(expected)) and words in str(found), f"{where}: found {found!r}, expected {expected!r}"
            continue
        assert not isinstance(found, Exception), f"{where}: found {found!r}"
        solved += 1
        same = coalesce.linear_sum_assignment(a, maximize, ties="scipy")
        if (np.isinf(a) | (a == np.floor(a))).all():  # SciPy's sums are exact
            np.testing.assert_array_equal(same, expected, err_msg=where)
        assert a[same].astype(float).sum() == pytest.approx(a[expected].astype(float).sum(), rel=1e-12, abs=1e-9), where
        r, c = found
        assert r.dtype == c.dtype == np.intp
        assert len(r) == len(c) == min(a.shape) == len(set(c.tolist())), where
        assert (np.diff(r) > 0).all(), where
        ours, scipys = a[r, c].astype(float).sum(), a[expected].astype(float).sum()
        assert ours == pytest.approx(scipys, rel=1e-12, abs=1e-9), where
        best = [m.value for m in coalesce.solve_assignment(a, maximize, k_best=2).best] if a.size else []
        if len(best) == 1 or len(best) == 2 and abs(best[1] - best[0]) > 1e-9:
            np.testing.assert_array_equal(found, expected, err_msg=where)
            unique += 1
    assert solved > 500 and unique > 100


def test_ties():
    """SciPy's matching among equal ones, of batches too, and never a worse one where its sums are rounded."""
    rng = np.random.default_rng(2)
    for shape in ((200, 200), (40, 90), (90, 40), (5, 30, 30), (4, 9, 3), (4, 3, 9), (0, 3, 3), (2, 0, 5), (2, 5, 0)):
        for maximize in (False, True):
            a = rng.integers(0, 4, shape)
            found = coalesce.linear_sum_assignment(a, maximize, ties="scipy")
            assert found[0].shape == found[1].shape == (*shape[:-2], min(shape[-2:]))
            for k in np.ndindex(shape[:-2]):
                np.testing.assert_array_equal([x[k] for x in found], scipy.optimize.linear_sum_assignment(a[k], maximize))
    worst = np.array([[1e16, 1, 0], [0, 1e16, 1], [1, 0, 1e16]])
    assert worst[coalesce.linear_sum_assignment(worst, ties="scipy")].sum() == 0
    for wrong, word in ((np.full((2, 2), np.inf), "infeasible"), (np.full((2, 2), np.nan), "invalid"), (np.full((2, 2, 2), np.inf), "infeasible")):
        with pytest.raises(ValueError, match=word):
            coalesce.linear_sum_assignment(wrong, ties="scipy")
    close = np.array([[2**60 + 1, 2**60], [2**60, 2**60 + 2]])  # to SciPy all are equal, and the exact best is another matching than its
    assert coalesce.linear_sum_assignment(close, ties="scipy")[1].tolist() == [1, 0]


def test_unique_optimum_is_scipys():
    rng = np.random.default_rng(0)
    for _ in range(300):
        a = rng.random(rng.integers(1, 40, 2))
        expected, found = scipy.optimize.linear_sum_assignment(a), coalesce.linear_sum_assignment(a)
        np.testing.assert_array_equal(found, expected)


def test_batches():
    rng = np.random.default_rng(1)
    for shape in ((7, 5, 5), (3, 4, 9), (6, 9, 4), (0, 3, 3), (2, 0, 5), (2, 5, 0), (1, 1, 1)):
        a = rng.random(shape)
        r, c = coalesce.linear_sum_assignment(a)
        assert r.shape == c.shape == (shape[0], min(shape[1:]))
        for k in range(shape[0]):
            np.testing.assert_array_equal((r[k], c[k]), scipy.optimize.linear_sum_assignment(a[k]))
    a = rng.random((4, 6, 8, 3))[:, ::2, ::-1, 1]
    r, c = coalesce.linear_sum_assignment(a, maximize=True)
    for k in range(4):
        np.testing.assert_array_equal((r[k], c[k]), scipy.optimize.linear_sum_assignment(a[k], maximize=True))
    a[2] = np.inf
    with pytest.raises(ValueError, match="infeasible"):
        coalesce.linear_sum_assignment(a)


def test_largest_integers_are_costs():
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        most = np.iinfo(dtype).max
        a = np.array([[most, 1], [most, most]], dtype)
        r, c = coalesce.linear_sum_assignment(a)
        assert c.tolist() == [1, 0]


def test_integers_are_exact():
    big = (1 << 53) + 1
    a = np.array([[big, big - 1], [0, 0]], np.int64)
    assert coalesce.linear_sum_assignment(a)[1].tolist() == [1, 0]
    assert coalesce.linear_sum_assignment(a, maximize=True)[1].tolist() == [0, 1]


@pytest.mark.parametrize("maximize", [False, True])
def test_extremes(maximize):
    rng = np.random.default_rng(10)
    for n in (2, 5, 70):
        drawn = [rng.random((n, n)) * scale for scale in (1e-320, 1e-300, 1e-20, 1e20, 1e300)]
        drawn += [10.0 ** rng.integers(-20, 20, (n, n)), rng.integers(-(1 << 62), 1 << 62, (n, n)),
                  rng.integers(0, (1 << 64) - 1, (n, n), np.uint64), rng.integers(-(1 << 63), (1 << 63) - 1, (n, n + 1))]
        for a in drawn:
            expected, found = (f(a, maximize) for f in (scipy.optimize.linear_sum_assignment, coalesce.linear_sum_assignment))
            answer = coalesce.solve_assignment(a, maximize)
            assert answer.gap == 0 and answer.proven
            exact = [sum(Fraction(x.item()) for x in a[pairs]) for pairs in (expected, found)]
            assert (exact[1] >= exact[0] if maximize else exact[1] <= exact[0]), (n, a.dtype)
            mask = rng.random(a.shape) < 0.2
            mask[np.arange(n), np.arange(n)] = False
            assert coalesce.solve_assignment(a, maximize, forbidden=mask).proven
