"""The functions of the package lapx 0.11, by name and signature: `from coalesce import lapx as lap`.

All are one solver here, exact in the costs as given, so `prefer_float32`, `precision`, `fast` and `fp_version` change
nothing. `n_threads` is taken too; a batch uses all cores. Costs of plus infinity forbid pairs. Where several matchings
are optimal another may be found than lapx finds. A row and a column that stay unmatched cost `cost_limit` together.
Results have lapx's shapes and types; rows ascend, of tall matrices too, whose pairs lapx lists by columns. Raises ValueError of what is no matrix, of a rectangle without extend_cost or
cost_limit, of costs that are not numbers, and where no full matching exists; there lapjv, lapjvx, lapjvxa, the batches of the latter two and lapmod
return an infinite cost instead, as lapx does, and a matching of the fewest forbidden pairs; lapjvc returns the cheapest of the largest matchings.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Literal, Optional, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arguments import not_a_number, numbers_of, real
from ._assignment import columns, solve_assignment
from ._device import on_host
from ._library import InfeasibleError

__all__ = ["FP_1", "FP_2", "FP_DYNAMIC", "LARGE", "lapjv", "lapjvc", "lapjvh", "lapjvh_batch", "lapjvr", "lapjvr_batch", "lapjvs", "lapjvs_batch", "lapjvsa",
           "lapjvsa_batch", "lapjvx", "lapjvx_batch", "lapjvxa", "lapjvxa_batch", "lapmod", "lapmod_batch"]

LARGE = 1000000.0
"""Bound of the costs of lapmod."""

FP_1, FP_2, FP_DYNAMIC = 1, 2, 3

_Costs = NDArray[Any]
_Columns = NDArray[np.int32]
_Index = NDArray[Any]


def _costs(cost: ArrayLike, dimensions: int, extend: Optional[bool], limit: float = math.inf) -> _Costs:
    """The array of costs, checked as lapx does."""
    a = on_host(cost)
    if a.ndim != dimensions:
        raise ValueError(f"{dimensions}-dimensional array expected, found one of {a.ndim} dimensions")
    if a.dtype.kind == "O":
        a = numbers_of(a)
    elif a.dtype.kind == "f" and a.dtype.itemsize > 8:
        a = a.astype(np.float64)
    if a.dtype.kind not in "biuf":
        raise TypeError(f"found costs of the type {a.dtype}, expected real numbers{not_a_number(a)}")
    if limit == math.inf and extend is not None and not extend and a.shape[-1] != a.shape[-2]:
        raise ValueError("Square cost array expected. If cost is intentionally non-square, pass extend_cost=True.")
    return a


def _limit(cost_limit: float) -> Optional[float]:
    found = real("cost_limit", cost_limit)
    if found == -math.inf:
        raise ValueError("cost_limit: found -inf, expected a number or plus infinity")
    return None if found == math.inf else found


def _one(cost: ArrayLike, extend: Optional[bool], limit: float = math.inf, *, anyway: bool = False) -> tuple[_Costs, _Columns]:
    """The costs of a matrix and the column of each row; anyway: by forbidden pairs too where there is no other."""
    bound = _limit(limit)
    a = _costs(cost, 2, extend, limit)
    if not a.size:
        return a, np.full(len(a), -1, np.int32)
    try:
        return a, columns(a, bound)
    except InfeasibleError:
        if not anyway:
            raise
        return a, columns((a == np.inf).astype(np.int8))


def _many(costs: ArrayLike, extend: bool, limit: float = math.inf, *, anyway: bool = False) -> tuple[_Costs, _Columns]:
    """The same of a batch."""
    bound = _limit(limit)
    a = _costs(costs, 3, extend, limit)
    if not a.size:
        return a, np.full(a.shape[:2], -1, np.int32)
    try:
        return a, columns(a, bound)
    except InfeasibleError:
        if not anyway:
            raise
        return a, np.array([_one(one, extend, limit, anyway=True)[1] for one in a], np.int32)


def _pairs(column: _Columns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    rows = np.flatnonzero(column >= 0)
    return rows, column[rows]


def _sum(a: _Costs, rows: NDArray[Any], cols: NDArray[Any]) -> float:
    return float(a[rows, cols].sum(dtype=np.float64))


def _mapped(a: _Costs, column: _Columns, return_cost: bool, kind: type[Any]) -> Any:
    """(cost, x, y): the column of each row and the row of each column."""
    rows, cols = _pairs(column)
    other = np.full(a.shape[1], -1, kind)
    other[cols] = rows
    x = column.astype(kind, copy=False)
    return (_sum(a, rows, cols), x, other) if return_cost else (x, other)


def _indexed(a: _Costs, column: _Columns, return_cost: bool, row_kind: type[Any], col_kind: type[Any]) -> Any:
    """(cost, rows, cols)."""
    rows, cols = _pairs(column)
    r, c = rows.astype(row_kind, copy=False), cols.astype(col_kind, copy=False)
    return (_sum(a, rows, cols), r, c) if return_cost else (r, c)


def _listed(a: _Costs, column: _Columns, return_cost: bool, kind: type[Any]) -> Any:
    """(cost, pairs)."""
    rows, cols = _pairs(column)
    pairs = np.empty((len(rows), 2), kind)
    pairs[:, 0], pairs[:, 1] = rows, cols
    return (_sum(a, rows, cols), pairs) if return_cost else pairs


def _batch_pairs(a: _Costs, column: _Columns, return_cost: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], list[slice], Optional[NDArray[np.float64]]]:
    """Rows and columns of the pairs of all matrices, one after the other, where those of each are, and the sums of their costs."""
    matrix, rows = np.nonzero(column >= 0)
    cols = column[matrix, rows].astype(np.int64)
    ends = np.cumsum(np.bincount(matrix, minlength=len(column))).tolist()
    places = [slice(start, end) for start, end in zip([0, *ends], ends)]
    sums = np.bincount(matrix, a[matrix, rows, cols].astype(np.float64), len(column)).astype(np.float64) if return_cost else None  # without pairs bincount counts
    return rows, cols, places, sums


def _batch_indexed(a: _Costs, column: _Columns, return_cost: bool) -> Any:
    """(costs, list of rows, list of cols)."""
    rows, cols, places, sums = _batch_pairs(a, column, return_cost)
    r, c = [rows[p] for p in places], [cols[p] for p in places]
    return (sums, r, c) if return_cost else (r, c)


def _batch_listed(a: _Costs, column: _Columns, return_cost: bool) -> Any:
    """(costs, list of pairs)."""
    rows, cols, places, sums = _batch_pairs(a, column, return_cost)
    both = np.column_stack((rows, cols))
    pairs = [both[p] for p in places]
    return (sums, pairs) if return_cost else pairs


@overload
def lapjv(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: Literal[True] = True) -> tuple[float, _Index, _Index]: ...
@overload
def lapjv(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, *, return_cost: Literal[False]) -> tuple[_Index, _Index]: ...
@overload
def lapjv(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any: ...
def lapjv(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any:
    """(cost, x, y): x int32 (n,), the column of each row, y int32 (m,), the row of each column, -1 where unmatched."""
    return _mapped(*_one(cost, extend_cost, cost_limit, anyway=True), return_cost, np.int32)


@overload
def lapjvx(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: Literal[True] = True) -> tuple[float, _Index, _Index]: ...
@overload
def lapjvx(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, *, return_cost: Literal[False]) -> tuple[_Index, _Index]: ...
@overload
def lapjvx(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any: ...
def lapjvx(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any:
    """(cost, rows, cols): rows int64 (k,), ascending, and their columns, int32 (k,)."""
    return _indexed(*_one(cost, extend_cost, cost_limit, anyway=True), return_cost, np.int64, np.int32)


@overload
def lapjvxa(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: Literal[True] = True) -> tuple[float, _Index]: ...
@overload
def lapjvxa(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, *, return_cost: Literal[False]) -> _Index: ...
@overload
def lapjvxa(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any: ...
def lapjvxa(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True) -> Any:
    """(cost, pairs): int32 (k, 2), rows ascending, and their columns."""
    return _listed(*_one(cost, extend_cost, cost_limit, anyway=True), return_cost, np.int32)


@overload
def lapjvc(cost: ArrayLike, return_cost: Literal[True] = True) -> tuple[float, _Index, _Index]: ...
@overload
def lapjvc(cost: ArrayLike, *, return_cost: Literal[False]) -> tuple[_Index, _Index]: ...
@overload
def lapjvc(cost: ArrayLike, return_cost: bool = True) -> Any: ...
def lapjvc(cost: ArrayLike, return_cost: bool = True) -> Any:
    """(cost, rows, cols): int32 (k,). NaN and both infinities forbid pairs. Where no full matching exists, the cheapest of those with the most pairs."""
    a = _costs(cost, 2, None)
    if not a.size:
        return _indexed(a, np.full(len(a), -1, np.int32), return_cost, np.int32, np.int32)
    allowed = np.isfinite(a)
    if not allowed.all():
        a = np.where(allowed, a, np.inf)
    try:
        column = columns(a)
    except InfeasibleError:
        if not allowed.any():
            column = np.full(len(a), -1, np.int32)
        else:  # a pair less is dearer than any change of the others
            column = columns(a, 2.0 * (min(a.shape) + 1) * (1 + float(np.abs(a[allowed]).max())))
    return _indexed(a, column, return_cost, np.int32, np.int32)


@overload
def lapjvs(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: Literal[True] = True, jvx_like: bool = True, prefer_float32: bool = True) -> tuple[float, _Index, _Index]: ...
@overload
def lapjvs(cost: ArrayLike, extend_cost: Optional[bool] = None, *, return_cost: Literal[False], jvx_like: bool = True, prefer_float32: bool = True) -> tuple[_Index, _Index]: ...
@overload
def lapjvs(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: bool = True, jvx_like: bool = True, prefer_float32: bool = True) -> Any: ...
def lapjvs(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: bool = True, jvx_like: bool = True, prefer_float32: bool = True) -> Any:
    """(cost, rows, cols), int64 (k,); without jvx_like (cost, x, y) as lapjv has them, int64."""
    a, column = _one(cost, extend_cost)
    return _indexed(a, column, return_cost, np.int64, np.int64) if jvx_like else _mapped(a, column, return_cost, np.int64)


@overload
def lapjvsa(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: Literal[True] = True, prefer_float32: bool = True) -> tuple[float, _Index]: ...
@overload
def lapjvsa(cost: ArrayLike, extend_cost: Optional[bool] = None, *, return_cost: Literal[False], prefer_float32: bool = True) -> _Index: ...
@overload
def lapjvsa(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: bool = True, prefer_float32: bool = True) -> Any: ...
def lapjvsa(cost: ArrayLike, extend_cost: Optional[bool] = None, return_cost: bool = True, prefer_float32: bool = True) -> Any:
    """(cost, pairs): int64 (k, 2), rows ascending, and their columns."""
    return _listed(*_one(cost, extend_cost), return_cost, np.int64)


def _output(name: str) -> bool:
    """Whether the name of an output is that of pairs."""
    if name not in ("indices", "pairs"):
        raise ValueError(f"output: found {name!r}, expected 'indices' or 'pairs'")
    return name == "pairs"


def _precision(name: str) -> None:
    if name not in ("native", "float32", "float64"):
        raise ValueError(f"precision: found {name!r}, expected 'native', 'float32' or 'float64'")


def lapjvr(cost: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True, *,
           precision: Literal["native", "float32", "float64"] = "native", output: Literal["indices", "pairs"] = "indices") -> Any:
    """(cost, rows, cols), int64 (k,); output="pairs": (cost, pairs), int64 (k, 2)."""
    _precision(precision)
    pairs = _output(output)
    a, column = _one(cost, extend_cost, cost_limit)
    return _listed(a, column, return_cost, np.int64) if pairs else _indexed(a, column, return_cost, np.int64, np.int64)


def lapjvr_batch(costs: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True, n_threads: Optional[int] = 0, *,
                 precision: Literal["native", "float32", "float64"] = "native", output: Literal["indices", "pairs"] = "indices") -> Any:
    """(costs, rows, cols): an array (B,) and lists of arrays as lapjvr gives them; output="pairs": (costs, pairs)."""
    _precision(precision)
    pairs = _output(output)
    a, column = _many(costs, extend_cost, cost_limit)
    return _batch_listed(a, column, return_cost) if pairs else _batch_indexed(a, column, return_cost)


lapjvh, lapjvh_batch = lapjvr, lapjvr_batch


def lapjvx_batch(costs: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True, n_threads: Optional[int] = 0) -> Any:
    """(costs, rows, cols): an array (B,) and lists of int64 arrays."""
    return _batch_indexed(*_many(costs, extend_cost, cost_limit, anyway=True), return_cost)


def lapjvxa_batch(costs: ArrayLike, extend_cost: bool = False, cost_limit: float = math.inf, return_cost: bool = True, n_threads: Optional[int] = 0) -> Any:
    """(costs, pairs): an array (B,) and a list of int64 arrays (k, 2)."""
    return _batch_listed(*_many(costs, extend_cost, cost_limit, anyway=True), return_cost)


def lapjvs_batch(costs: ArrayLike, extend_cost: bool = False, return_cost: bool = True, n_threads: Optional[int] = 0, prefer_float32: bool = True) -> Any:
    """(costs, rows, cols): an array (B,) and lists of int64 arrays."""
    return _batch_indexed(*_many(costs, extend_cost), return_cost)


def lapjvsa_batch(costs: ArrayLike, extend_cost: bool = False, return_cost: bool = True, n_threads: Optional[int] = 0, prefer_float32: bool = True) -> Any:
    """(costs, pairs): an array (B,) and a list of int64 arrays (k, 2)."""
    return _batch_listed(*_many(costs, extend_cost), return_cost)


class _Rows:
    """A sparse square matrix as lapmod has it, with what solve_assignment asks of one of scipy.sparse."""

    has_canonical_format = True

    def __init__(self, n: int, cc: ArrayLike, ii: ArrayLike, kk: ArrayLike) -> None:
        self.data, self.indptr, self.indices = np.asarray(cc), np.asarray(ii), np.asarray(kk)
        self.shape = (n, n)
        if n < 0 or self.data.ndim != 1 or self.indptr.shape != (n + 1,) or self.indices.shape != self.data.shape:
            raise ValueError(f"lapmod: found arrays of the shapes {self.data.shape}, {self.indptr.shape} and {self.indices.shape}, expected (e,), ({n + 1},) and (e,)")
        if self.data.dtype.kind not in "iuf" or self.indptr.dtype.kind not in "iu" or self.indices.dtype.kind not in "iu":
            raise TypeError("lapmod: expected costs of real numbers, and integers of ii and kk")
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.data) or (np.diff(self.indptr.astype(np.int64)) < 0).any():
            raise ValueError("lapmod: ii: expected numbers from 0 to the length of cc, ascending")
        if len(self.indices) and (self.indices.min() < 0 or self.indices.max() >= n):
            raise ValueError(f"lapmod: kk: expected columns from 0 to {n - 1}")
        if ((np.diff(self.indices.astype(np.int64)) <= 0) & (np.diff(self.row()) == 0)).any():
            raise ValueError("lapmod: kk: expected columns that ascend in each row")
        if n and not len(self.data):
            raise ValueError("lapmod: found no costs")
        if not ((self.data >= 0) & (self.data < LARGE)).all():
            raise ValueError(f"lapmod: cc: expected costs from 0 to less than {LARGE:g}")

    def row(self) -> NDArray[np.int64]:
        """The row of each cost."""
        starts: NDArray[np.int64] = self.indptr.astype(np.int64)
        return np.repeat(np.arange(self.shape[0]), starts[1:] - starts[:-1])

    def tocsr(self) -> _Rows:
        return self


@overload
def lapmod(n: int, cc: ArrayLike, ii: ArrayLike, kk: ArrayLike, fast: bool = True, return_cost: Literal[True] = True, fp_version: int = FP_DYNAMIC) -> tuple[float, _Index, _Index]: ...
@overload
def lapmod(n: int, cc: ArrayLike, ii: ArrayLike, kk: ArrayLike, fast: bool = True, *, return_cost: Literal[False], fp_version: int = FP_DYNAMIC) -> tuple[_Index, _Index]: ...
@overload
def lapmod(n: int, cc: ArrayLike, ii: ArrayLike, kk: ArrayLike, fast: bool = True, return_cost: bool = True, fp_version: int = FP_DYNAMIC) -> Any: ...
def lapmod(n: int, cc: ArrayLike, ii: ArrayLike, kk: ArrayLike, fast: bool = True, return_cost: bool = True, fp_version: int = FP_DYNAMIC) -> Any:
    """(cost, x, y) as lapjv has them, int32, of a sparse square matrix: row i has the costs cc[ii[i]:ii[i + 1]] in the columns kk[...], ascending."""
    rows = _Rows(int(n), cc, ii, kk)
    if not n:
        none = np.empty(0, np.int32)
        return (0.0, none, none.copy()) if return_cost else (none, none.copy())
    row = rows.row()
    try:
        x = solve_assignment(rows, duals=False, device="host").column
    except InfeasibleError:
        forbidden = np.ones((n, n), np.int8)
        forbidden[row, rows.indices] = 0
        x = columns(forbidden)
    y = np.empty(n, np.int32)
    y[x] = np.arange(n, dtype=np.int32)
    if not return_cost:
        return x, y
    matched = rows.data[rows.indices == x[row]]
    return float(matched.sum(dtype=np.float64)) if len(matched) == n else math.inf, x, y


def lapmod_batch(problems: Iterable[tuple[int, ArrayLike, ArrayLike, ArrayLike]], fast: bool = True, return_cost: bool = True,
                 fp_version: int = FP_DYNAMIC, n_threads: Optional[int] = 0) -> Any:
    """(costs, x, y): an array (B,) and lists of what lapmod gives for each (n, cc, ii, kk)."""
    found = [lapmod(*problem) for problem in problems]
    x, y = [one[1] for one in found], [one[2] for one in found]
    return (np.array([one[0] for one in found], np.float64), x, y) if return_cost else (x, y)
