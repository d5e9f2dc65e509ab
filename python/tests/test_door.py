"""The extension for small matrices, beside the same by ctypes."""

import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest

import coalesce
from coalesce import _assignment
from coalesce import _library as lib

pytestmark = pytest.mark.skipif(lib.DOOR is None, reason="this Python calls the library by ctypes alone")


def draw(rng):
    """An array of any type, order and stride, of a matrix or of a batch."""
    shape = tuple(rng.integers(1, 12, rng.integers(2, 4)))
    kind = np.dtype(str(rng.choice(["?", "b", "h", "i", "l", "B", "H", "I", "L", "q", "Q", "f", "d", "e", ">f8"])))
    a = rng.integers(0, 100, tuple(2 * s for s in shape)).astype(kind)
    a = a[tuple(slice(None, s) for s in shape)] if rng.random() < 0.5 else a[tuple(slice(None, None, 2) for _ in shape)]
    if rng.random() < 0.3:
        a = np.asfortranarray(a)
    if rng.random() < 0.3:
        a = a[..., ::-1, ::-1]
    if kind.kind == "f" and rng.random() < 0.3:
        a = a.copy()
        a[..., 0, 0] = np.inf
    return a


def outcome(function, *arguments, **keywords):
    try:
        return [x.tolist() for x in function(*arguments, **keywords)]
    except (ValueError, TypeError) as e:
        return type(e), str(e)


def values(a, pairs):
    """The sums of the matched costs: other matchings may be as good."""
    rows, cols = np.array(pairs)
    return np.take_along_axis(np.take_along_axis(a, rows[..., None], -2), cols[..., None], -1).sum(axis=(-2, -1)).tolist()


def test_agrees_with_ctypes():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        a, maximize = draw(rng), bool(rng.random() < 0.5)
        expected = outcome(_assignment.by_ctypes, a, maximize)
        for found in (outcome(coalesce.linear_sum_assignment, a, maximize), outcome(coalesce.linear_sum_assignment, a, maximize=maximize)):
            assert np.shape(found) == np.shape(expected), (a, found, expected)
            assert found == expected if isinstance(found, tuple) else values(a, found) == values(a, expected), (a, found, expected)


def test_arguments_and_answers():
    f = coalesce.linear_sum_assignment
    rows, cols = f(np.eye(3))
    assert rows.dtype == cols.dtype == np.intp and rows.flags.owndata and cols.flags.writeable
    for wrong in (lambda: f(), lambda: f(np.eye(2), 1, 2), lambda: f(np.eye(2), minimise=True), lambda: f(np.eye(2), maximize="yes")):
        with pytest.raises(TypeError):
            wrong()
    assert list(inspect.signature(f).parameters) == ["cost_matrix", "maximize", "tensors", "ties"] and f.__doc__
    assert f(cost_matrix=np.eye(2), maximize=True)[1].tolist() == [0, 1]
    with pytest.raises(ValueError, match="matrix contains invalid numeric entries"):
        f(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="infeasible"):
        f(np.stack([np.eye(2), np.full((2, 2), np.inf)]))


def test_threads():
    a = np.random.default_rng(2).random((80, 80))  # large enough for the GIL to be released
    expected, wrong = coalesce.linear_sum_assignment(a)[1].tolist(), []

    def work():
        for _ in range(50):
            if coalesce.linear_sum_assignment(a)[1].tolist() != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_without_it():
    """ctypes does all where the extension is not there."""
    done = subprocess.run([sys.executable, "-c", "import sys; sys.modules['coalesce._door'] = None\n"
                           "import coalesce, coalesce._library as lib\n"
                           "print(lib.DOOR, coalesce.linear_sum_assignment([[1, 2], [1, 3]])[1], coalesce.lapx.lapjv([[1, 2], [1, 3]])[0])"], capture_output=True, text=True)
    assert done.stdout == "None [1 0] 3.0\n", done.stderr
