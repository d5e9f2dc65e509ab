"""Linear assignment: SciPy's function, batches, and answers with their certificate."""

from __future__ import annotations

import ctypes
import math
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, TypeVar, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _device
from . import _library as lib
from ._arguments import not_a_number, numbers_of, real, seconds, text, truth, whole
from ._keywords import encode, keywords
from ._options import ASSIGNMENT, AssignmentOptions
from ._progress import Progress, Told, run
from ._report import Report
from ._results import AssignmentFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._transport import TransportResult

# A solve of at most so many costs keeps its thread: ctrl-C comes after it.
_DIRECT = 1 << 17

# The same of allowed pairs, with a limit, or times k best matchings, whose solvers take longer.
_DIRECT_LISTED = 1 << 12

A = TypeVar("A")

_Sparse = tuple[NDArray[np.int64], NDArray[np.int32], tuple[int, int]]
"""Where each row's allowed pairs begin, their columns, and the shape."""


class _Small(threading.local):
    """A thread's struct and answers, kept open from call to call."""

    def __init__(self) -> None:
        self.problem = lib.Assignment(size=ctypes.sizeof(lib.Assignment), batch=1)
        self.text = ctypes.create_string_buffer(512)
        self.problem.text, self.problem.text_size = ctypes.addressof(self.text), len(self.text)
        self.address = ctypes.addressof(self.problem)
        self.room = -1
        self.busy = False


class _Reported(threading.local):
    """The same for answers with duals and a report, which are copied out."""

    def __init__(self) -> None:
        self.text, self.scale = ctypes.create_string_buffer(1 << 14), ctypes.c_double()
        self.problem = lib.Assignment(size=ctypes.sizeof(lib.Assignment), batch=1, device=-1, text=ctypes.addressof(self.text),
                                      text_size=len(self.text), scale=ctypes.addressof(self.scale))
        self.address = ctypes.addressof(self.problem)
        self.rows = self.cols = -1
        self.busy = False

    def fit(self, rows: int, cols: int) -> None:
        """Makes room for the answers to a shape."""
        if rows > self.rows or cols > self.cols:
            self.rows, self.cols = max(rows, self.rows, 64), max(cols, self.cols, 64)
            self.column, self.u, self.v = np.empty(self.rows, np.int32), np.empty(self.rows, np.int64), np.empty(self.cols, np.int64)
            p = self.problem
            p.column, p.u, p.v = self.column.ctypes.data, self.u.ctypes.data, self.v.ctypes.data


_small, _reported = _Small(), _Reported()


def _matrix(cost: ArrayLike) -> NDArray[Any]:
    """An array of a type that the library reads, in memory as it is where that can be."""
    a = _device.on_host(cost) if type(cost) is not np.ndarray else cost
    if a.ndim not in (2, 3):
        raise ValueError(f"expected a matrix (2-D array) or a batch of them (3-D array), got a {a.ndim} array" + (f": {cost!r:.40}" if a.ndim == 0 else ""))
    if a.dtype.char in lib.TYPES:
        return a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))
    if a.dtype == np.float16:
        return a.astype(np.float32)
    if a.dtype.kind == "O":
        a = numbers_of(a)
        if a.dtype.char in lib.TYPES:
            return a
    elif a.dtype.itemsize < 4 and np.can_cast(a.dtype, np.float32):  # of ml_dtypes
        return a.astype(np.float32)
    wrong = not_a_number(a)
    raise TypeError(f"Cannot cast array data from {a.dtype!r} to dtype('float64') according to the rule 'safe'{wrong and wrong + '; np.inf forbids a pair'}")


@overload
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False, *, tensors: Literal[False] = False, ties: str = "any") -> tuple[NDArray[np.intp], NDArray[np.intp]]: ...


@overload
def linear_sum_assignment(cost_matrix: A, maximize: bool = False, *, tensors: Literal[True], ties: str = "any") -> tuple[A, A]: ...


@overload
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False, *, tensors: bool, ties: str = "any") -> tuple[Any, Any]: ...


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False, *, tensors: bool = False, ties: str = "any") -> tuple[Any, Any]:
    """The matching of rows to columns of the least total cost, with the signature of SciPy's function of that name.

    cost_matrix: an array (n, m) of any real type, order and stride, read in place where it can be. Infinite costs
    forbid pairs (minus infinite ones, with maximize). A batch (B, n, m) gives arrays (B, min(n, m)). Arrays of torch,
    CuPy and JAX that are on a GPU are solved there, and no cost goes through the host; tensors=True gives the answer as
    int64 arrays of the same package on the same device, of the host's arrays of torch and JAX too. ties: "scipy" gives
    SciPy's own indices where several matchings are optimal and SciPy's sums are exact: of arrays on the host, which
    takes SciPy's time besides, and of those of torch and CuPy on a GPU.
    Returns row indices, ascending, and their columns. Integers are solved exactly, and floats to the rounding that
    solve_assignment's gap tells. Of several optimal matchings it may give another than SciPy.
    Raises ValueError, as SciPy: not a matrix, invalid numeric entries, infeasible.
    """
    if maximize is not False and maximize is not True:
        maximize = truth("maximize", maximize)
    if type(cost_matrix) is not np.ndarray:
        tensors = truth("tensors", tensors)
        if _device.on_gpu(cost_matrix):
            placed = _placed_pairs(cost_matrix, maximize, ties)
            if placed is not None:
                return placed if tensors else (_device.fetched(placed[0]), _device.fetched(placed[1]))
            pairs = _pairs_of_gpu(cost_matrix, maximize)
            return (_device.like(cost_matrix, pairs[0]), _device.like(cost_matrix, pairs[1])) if tensors else pairs
        if tensors:
            pairs = by_ctypes(_matrix(cost_matrix), maximize, ties=ties)
            return _device.like(cost_matrix, pairs[0]), _device.like(cost_matrix, pairs[1])
    a = _matrix(cost_matrix)
    if ties != "any":
        return _pairs_of_scipy(a, _asked(maximize, ties))
    if a.ndim == 3 or a.size > _DIRECT or a.size == 0 or _small.busy:
        try:
            answer = _solve(a, bool(maximize))
        except lib.Interrupted:
            raise lib.Interrupted() from None
        if any(report["interrupted"] for report in answer.reports):  # pairs cannot say so
            raise lib.Interrupted()
        return _pairs(answer.column, a.shape)
    rows, cols = a.shape
    small = _small
    p = small.problem
    if small.room < rows:
        column = np.empty(max(rows, 64), np.int32)
        small.column, small.room = column, len(column)
        p.column = column.ctypes.data
    p.flags = lib.MAXIMIZE if maximize else 0
    p.device = -1
    p.type = lib.TYPES[a.dtype.char]
    p.rows, p.cols = rows, cols
    p.row_stride, p.col_stride = a.strides
    p.costs = a.__array_interface__["data"][0]
    small.busy = True
    try:
        code = lib.LIB.coalesce_assign(small.address)
    finally:
        small.busy = False
    if code:
        raise _failed(lib.error(code, small.text.value.decode(errors="replace")))
    return _pair(small.column[:rows], cols)


by_ctypes = linear_sum_assignment

if not TYPE_CHECKING and lib.DOOR is not None:
    lib.DOOR.otherwise(by_ctypes)
    linear_sum_assignment = lib.DOOR.linear_sum_assignment


def _pairs_of_scipy(a: NDArray[Any], flags: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The matching that SciPy finds, of arrays on the host."""
    batch, rows, cols = a.shape if a.ndim == 3 else (1, *a.shape)
    answer = _Answer(batch, rows, cols, False)
    if a.size:
        error = ctypes.create_string_buffer(512)
        p = lib.Assignment(size=ctypes.sizeof(lib.Assignment), flags=flags, device=-1, type=lib.TYPES[a.dtype.char], batch=batch, rows=rows, cols=cols,
                           costs=a.ctypes.data, column=answer.column.ctypes.data, code=answer.code.ctypes.data, text=ctypes.addressof(error), text_size=len(error))
        p.batch_stride, p.row_stride, p.col_stride = a.strides if a.ndim == 3 else (0, *a.strides)
        code = lib.LIB.coalesce_assign(ctypes.addressof(p)) or int(answer.code.max())
        if code:
            raise _failed(lib.error(code, error.value.decode(errors="replace")))
    else:
        answer.column.fill(-1)
    return _pairs(answer.column, a.shape)


def columns(a: NDArray[Any], limit: Optional[float] = None, maximize: bool = False) -> NDArray[np.int32]:
    """The column of each row, (n,) or of a batch (B, n), -1 where it is unmatched; limit as in solve_assignment, of minimising.

    Raises CostError of an invalid cost, InfeasibleError where no full matching exists.
    """
    if lib.DOOR is not None:
        found: Optional[NDArray[np.int32]] = lib.DOOR.columns(a, maximize, limit)
        if found is not None:
            return found
    if a.ndim == 2:
        return cast("NDArray[np.int32]", _solve(_matrix(a), maximize, limit=limit).column[0])
    if limit is None:
        return _solve(_matrix(a), maximize).column
    return np.array([_solve(_matrix(one), maximize, limit=limit).column[0] for one in a], np.int32).reshape(a.shape[:2])


def enqueue_linear_sum_assignment(cost_matrix: Any, maximize: bool = False, *, ties: str = "any") -> tuple[Any, Any, Any]:
    """linear_sum_assignment of an array of torch or CuPy on a GPU, for programs that do not wait: it puts one kernel into
    the current stream and returns. After a first call with the same shape and type, the stream may be one that is
    captured into a CUDA graph.

    Returns row indices, columns (int64) and statuses (int32, one for each matrix) on the same GPU. Statuses: 0, the columns
    are optimal and checked; 1, no full matching; 2, a cost that cannot be used; 3, optimal for costs rounded to about 60
    bits, where another matching may be better by the rounding (linear_sum_assignment decides); 4, the check failed. With
    1 and 2 all indices are -1. Raises ValueError where no kernel takes matrices of that shape: a side longer than 2048.
    """
    maximize = truth("maximize", maximize)
    done = _device.solve_in_place(cost_matrix, lib.ENQUEUE | _asked(maximize, ties))
    if done is None:
        raise ValueError("enqueue: expected an array of torch or CuPy on a GPU, of a shape that a kernel takes")
    code, (row, column, status) = done
    if code:
        raise _failed(lib.error(code, _device.fault()))
    return row, column, status


def _asked(maximize: bool, ties: str) -> int:
    """The flags of a solve in place."""
    if ties not in ("any", "scipy"):
        raise _no_ties(ties)
    return (lib.MAXIMIZE if maximize else 0) | (lib.SCIPY_TIES if ties == "scipy" else 0)


def _no_ties(ties: str) -> ValueError:
    return ValueError(f'ties: found {ties!r}, expected "any" or "scipy", the latter of arrays of the host, or of torch or CuPy on a GPU with sides of at most 2048')


def _placed_pairs(x: Any, maximize: bool, ties: str) -> Optional[tuple[Any, Any]]:
    """linear_sum_assignment of an array on a GPU into arrays there; None where there is no kernel for it, or where the host
    has to look at its costs."""
    done = _device.solve_in_place(x, _asked(maximize, ties))
    if done is None and ties != "any":
        raise _no_ties(ties)
    if done is None or done[0] == lib.COST:
        return None
    code, (row, column) = done
    if code == lib.INFEASIBLE:
        raise _failed(lib.InfeasibleError())
    if code:
        raise lib.error(code, _device.fault())
    return row, column


def _failed(e: Exception) -> Exception:
    """An error in SciPy's words."""
    if isinstance(e, lib.InfeasibleError):
        place = re.search("matrix [0-9]+( of the batch)?", str(e))
        same = lib.InfeasibleError("cost matrix is infeasible" + (f": {place[0]}" if place else ""))
        same.report = e.report
        return same
    if isinstance(e, lib.CostError):
        return lib.CostError(f"matrix contains invalid numeric entries: {e}")
    return e


@dataclass(eq=False)
class Points:
    """Points whose distances are costs, computed where they are needed.

    rows, cols: float arrays (n, d) and (m, d), a point of d coordinates for each row and each column. metric:
    "euclidean", "squared" (the sum of the squared differences) or "manhattan". floor: distances are cut to integers.
    """

    rows: ArrayLike
    cols: ArrayLike
    metric: str = "euclidean"
    floor: bool = False

    def __post_init__(self) -> None:
        self.row, self.col = (np.ascontiguousarray(x, np.float64) for x in (self.rows, self.cols))
        if self.row.ndim != 2 or self.col.ndim != 2 or self.row.shape[1] != self.col.shape[1] or not self.row.shape[1]:
            raise ValueError(f"points: found arrays of the shapes {self.row.shape} and {self.col.shape}, expected (n, d) and (m, d)")
        if self.metric not in lib.METRICS:
            raise ValueError(f"points: found the metric {self.metric!r}, expected one of {', '.join(lib.METRICS)}")


Duals = Union["AssignmentResult", tuple[ArrayLike, ArrayLike]]


def _starting(start: Duals, rows: int, cols: int, maximize: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Duals as the library takes them: int64 u and v, and a scale that divides them, below 0 where it maximises."""
    if isinstance(start, AssignmentResult):
        if start.raw_duals is None:
            raise ValueError("start: found a result without duals")
        found = start.raw_duals
    else:
        u, v = (np.asarray(x, np.float64) for x in start)
        most = max((float(np.abs(x).max()) for x in (u, v) if x.size), default=0.0)
        if not np.isfinite(most):
            raise lib.CostError("start: found a dual that is not a number")
        scale = np.ldexp(1.0, min(58 - int(np.frexp(most)[1]), 1000)) * (-1 if maximize else 1)
        found = np.rint(u * scale).astype(np.int64), np.rint(v * scale).astype(np.int64), float(scale)
    if found[0].shape != (rows,) or found[1].shape != (cols,):
        raise ValueError(f"start: found duals of the shapes {found[0].shape} and {found[1].shape}, expected ({rows},) and ({cols},)")
    if (found[2] < 0) != maximize:
        raise ValueError("start: found duals of a problem that minimises where this one maximises, or the other way")
    return np.ascontiguousarray(found[0]), np.ascontiguousarray(found[1]), found[2]


class _Answer:
    """The arrays that a solve writes, all with the batch first, in two blocks of memory: an address costs a microsecond."""

    def __init__(self, batch: int, rows: int, cols: int, duals: bool) -> None:
        self.small = np.zeros(batch * (rows + 1), np.int32)
        self.column, self.code = self.small[:batch * rows].reshape(batch, rows), self.small[batch * rows:]
        self.large = np.zeros(batch * (3 + (rows + cols if duals else 0)), np.int64)
        self.scale, self.value, self.gap = self.large[:3 * batch].view(np.float64).reshape(3, batch)
        self.scale.fill(np.nan)  # without duals
        self.u: Optional[NDArray[np.int64]] = None
        self.v: Optional[NDArray[np.int64]] = None
        if duals:
            self.u = self.large[3 * batch:(3 + rows) * batch].reshape(batch, rows)
            self.v = self.large[(3 + rows) * batch:].reshape(batch, cols)
        self.reports: list[dict[str, Any]] = []

    def fill(self, p: lib.Assignment) -> None:
        """Tells the library where the arrays are."""
        batch, rows = self.column.shape
        small, large = self.small.ctypes.data, self.large.ctypes.data
        p.column, p.code = small, small + 4 * batch * rows
        p.scale, p.value, p.gap = large, large + 8 * batch, large + 16 * batch
        if self.u is not None:
            p.u, p.v = large + 24 * batch, large + 8 * (3 + rows) * batch


def _solve(a: NDArray[Any], maximize: bool, *, sparse: Optional[_Sparse] = None,
           limit: Optional[float] = None, duals: bool = False, device: int = -1, algorithm: Optional[str] = None,
           time_limit: Optional[float] = None, check: bool = True, infeasible: bool = False, k_best: int = 1,
           bottleneck: bool = False, points: Optional[Points] = None, start: Optional[Duals] = None, progress: Progress = None,
           resident: Optional[_device.Resident] = None, options: Optional[bytes] = None) -> _Answer:
    batch, rows, cols = resident.shape if resident else (1, *sparse[2]) if sparse else (1, len(points.row), len(points.col)) if points else (1, *a.shape) if a.ndim == 2 else a.shape
    answer = _Answer(batch, rows, cols, duals)
    if batch == 0:
        return answer
    p = lib.Assignment(size=ctypes.sizeof(lib.Assignment), batch=batch, rows=rows, cols=cols, device=device,
                       type=lib.TYPES[a.dtype.char], algorithm=text("algorithm", algorithm), time_limit=seconds("time_limit", time_limit),
                       k_best=k_best, options=options)
    p.flags = (lib.MAXIMIZE if maximize else 0) | (0 if check else lib.UNCHECKED) | (lib.BOTTLENECK if bottleneck else 0)
    if limit is not None:
        p.flags, p.limit = p.flags | lib.LIMIT, limit
    if start is not None:
        u, v, p.start_scale = _starting(start, rows, cols, maximize)
        p.start_u, p.start_v = u.ctypes.data, v.ctypes.data
    if resident:
        p.flags |= lib.RESIDENT
        resident.fill(p)
    elif points:
        p.flags |= lib.FLOOR if points.floor else 0
        p.dimensions, p.metric = points.row.shape[1], lib.METRICS[points.metric]
        p.row_points, p.col_points = points.row.ctypes.data, points.col.ctypes.data
    elif sparse:
        p.start, p.col, p.col_stride = sparse[0].ctypes.data, sparse[1].ctypes.data, a.itemsize
    else:
        p.batch_stride, p.row_stride, p.col_stride = a.strides if a.ndim == 3 else (0, *a.strides)
    if not resident and not points:
        p.costs = a.ctypes.data
    answer.fill(p)

    def finish(reports: list[dict[str, Any]]) -> _Answer:
        answer.reports = reports
        return answer

    try:
        run("assignment", p, finish, Told(progress, time_limit))
    except lib.InfeasibleError as e:
        if not infeasible:
            raise _failed(e) from None
        answer.reports = e.report
    except lib.CostError as e:
        raise _failed(e) from None
    if not infeasible and answer.code.any():
        raise _failed(lib.InfeasibleError(f"matrix {int(np.flatnonzero(answer.code)[0])} of the batch"))
    return answer


def _pair(column: NDArray[np.int32], cols: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The matched rows of a matrix, ascending, and their columns."""
    chosen = column.astype(np.intp)
    if len(column) <= cols:
        return np.arange(len(column)), chosen
    matched = np.flatnonzero(chosen >= 0)
    return matched, chosen[matched]


def _pairs(column: NDArray[np.int32], shape: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The same of the matrices of a batch, or of one."""
    rows, cols = shape[-2:]
    if len(shape) == 2:
        return _pair(column[0], cols)
    if rows <= cols:
        return np.tile(np.arange(rows), (len(column), 1)), column.astype(np.intp)
    row = np.nonzero(column >= 0)[1].reshape(len(column), cols)
    return row, np.take_along_axis(column, row, 1).astype(np.intp)


# A solve of at most so many costs on a GPU keeps its thread: it takes some milliseconds.
_DIRECT_GPU = 1 << 25


class _OnGPU(threading.local):
    """A thread's struct for arrays on GPUs, and the answers of its last call."""

    def __init__(self) -> None:
        self.text = ctypes.create_string_buffer(512)
        self.problem = lib.Assignment(size=ctypes.sizeof(lib.Assignment), text=ctypes.addressof(self.text), text_size=len(self.text))
        self.address = ctypes.addressof(self.problem)
        self.column = self.codes = np.empty(0, np.int32)
        self.busy = False

    def fit(self, batch: int, rows: int) -> None:
        """Makes room for the answers to a batch."""
        p = self.problem
        if len(self.column) < batch * rows:
            self.column = np.empty(batch * rows, np.int32)
            p.column = self.column.ctypes.data
        if len(self.codes) < batch:
            self.codes = np.empty(batch, np.int32)
            p.code = self.codes.ctypes.data

    def solve(self, found: _device.Resident, maximize: bool) -> int:
        """The library's code for some costs."""
        p = self.problem
        batch, rows, cols = found.shape
        self.fit(batch, rows)
        p.flags = lib.RESIDENT | (lib.MAXIMIZE if maximize else 0)
        found.fill(p)
        if batch * rows * cols <= _DIRECT_GPU:
            return int(lib.LIB.coalesce_assign(self.address))
        try:
            if lib.stopped(lib.solve("assignment", p, str)):  # indices cannot say so
                raise lib.Interrupted()
        except lib.InfeasibleError:
            return lib.INFEASIBLE
        except lib.CostError:
            return lib.COST
        return lib.OK


_on_gpu = _OnGPU()


def _pairs_of_gpu(x: Any, maximize: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """linear_sum_assignment of an array on a GPU, or of a copy where the library has nothing for it there."""
    kept = _on_gpu if not _on_gpu.busy else _OnGPU()
    kept.busy = True
    try:
        wide = x
        while (found := None if wide is None else _device.resident(wide)) is not None:
            code = kept.solve(found, maximize)
            if code == lib.COST:
                wide = _device.wider(wide)
                continue
            batch, rows, cols = found.shape
            if code == lib.INFEASIBLE or code == lib.OK and batch > 1 and kept.codes[:batch].any():
                raise _failed(lib.InfeasibleError())
            if code:
                raise lib.error(code, kept.text.value.decode(errors="replace"))
            column = kept.column[:batch * rows].reshape(batch, rows)
            return _pairs(_turned(column, cols) if found.turned else column, tuple(x.shape))
    finally:
        kept.busy = False
    return linear_sum_assignment(_device.to_host(x), maximize)


def _turned(column: NDArray[np.int32], rows: int) -> NDArray[np.int32]:
    """The column of each row of a matrix, of those of its transpose, whose rows are all matched."""
    other = np.full((1, rows), -1, np.int32)
    other[0, column[0]] = np.arange(column.shape[1], dtype=np.int32)
    return other


@dataclass(eq=False)
class RankedMatching:
    """One of the k best matchings. value: the sum of its costs. column: int32 (n,), the column of each row, -1 where it
    is unmatched."""

    value: float
    column: NDArray[np.int32]


@dataclass(repr=False, eq=False)
class AssignmentResult(Report, AssignmentFields):
    """An answer to an assignment.

    row_ind, col_ind: the matched pairs, rows ascending. column: int32 (n,), the column of each row, -1 where it is
    unmatched. u, v: duals (n,) and (m,) in the costs' unit: u[i] + v[j] <= c[i, j] for every allowed pair (>= where it
    maximises), to the rounding that certificate["scale"] tells; their sum is the value where all rows or all columns
    are matched. raw_duals: the same as the library computed them, int64 u and v and a float scale that divides them.
    infeasible: no full matching exists; certificate["hall"] proves it. best: the matchings of k_best, the best first;
    complete: the matrix has no others.
    With bottleneck the value is the worst matched cost, there are no duals, and the certificate's members, rows or
    columns, have together fewer partners at better costs than they are many.
    """

    column: NDArray[np.int32]
    raw_duals: Optional[tuple[NDArray[np.int64], NDArray[np.int64], float]]
    infeasible: bool

    @property
    def best(self) -> list[RankedMatching]:
        """The matchings of k_best, the best first."""
        return [RankedMatching(float(m["value"]), np.array(m["solution"], np.int32)) for m in self.report.get("best", [])]

    @property
    def complete(self) -> bool:
        """Whether the matrix has no other matchings than those in best."""
        return bool(self.report.get("complete", False))

    @property
    def row_ind(self) -> NDArray[np.intp]:
        """The matched rows, ascending."""
        return np.flatnonzero(self.column >= 0)

    @property
    def col_ind(self) -> NDArray[np.intp]:
        """The columns of row_ind."""
        return self.column[self.column >= 0].astype(np.intp)

    @property
    def u(self) -> Optional[NDArray[Any]]:
        """The duals of rows, in the costs' unit; None where there are none."""
        return self._dual(0)

    @property
    def v(self) -> Optional[NDArray[Any]]:
        """The duals of columns, in the costs' unit; None where there are none."""
        return self._dual(1)

    def _dual(self, side: int) -> Optional[NDArray[Any]]:
        if self.raw_duals is None:
            return None
        x, scale = cast("NDArray[np.int64]", self.raw_duals[side]), self.raw_duals[2]
        return x * int(scale) if abs(scale) == 1 else x / scale


class _Keywords(AssignmentOptions, total=False):
    """The keywords of solve_assignment."""

    forbidden: Optional[ArrayLike]
    limit: Optional[float]
    duals: bool
    check: bool
    device: Union[str, int, None]
    algorithm: Optional[str]
    time_limit: Optional[float]
    k_best: int
    bottleneck: bool
    start: Optional[Duals]
    progress: Progress


class _Amounts(TypedDict, total=False):
    """The keywords of solve_assignment whose answer is a flow."""

    maximize: bool
    duals: bool
    check: bool
    device: Union[str, int, None]
    time_limit: Optional[float]
    progress: Progress


@overload
def solve_assignment(cost: Any, *, supply: ArrayLike, capacity: Optional[ArrayLike] = None, **options: Unpack[_Amounts]) -> TransportResult: ...


@overload
def solve_assignment(cost: Any, *, supply: None = None, capacity: ArrayLike, **options: Unpack[_Amounts]) -> TransportResult: ...


@overload
def solve_assignment(cost: np.ndarray[tuple[int, int], Any], maximize: bool = False, **options: Unpack[_Keywords]) -> AssignmentResult: ...


@overload
def solve_assignment(cost: np.ndarray[tuple[int, int, int], Any], maximize: bool = False, **options: Unpack[_Keywords]) -> list[AssignmentResult]: ...


@overload
def solve_assignment(cost: Any, maximize: bool = False, **options: Unpack[_Keywords]) -> AssignmentResult: ...


@keywords(AssignmentOptions)
def solve_assignment(cost: Any, maximize: bool = False, *, forbidden: Optional[ArrayLike] = None,
                     limit: Optional[float] = None, duals: bool = True, check: bool = True,
                     device: Union[str, int, None] = None, algorithm: Optional[str] = None,
                     time_limit: Optional[float] = None, k_best: int = 1,
                     bottleneck: bool = False, start: Optional[Duals] = None,
                     supply: Optional[ArrayLike] = None, capacity: Optional[ArrayLike] = None,
                     progress: Progress = None, **options: Unpack[AssignmentOptions]) -> Union[AssignmentResult, list[AssignmentResult], TransportResult]:
    """An optimal matching with its duals and the certificate that proves it.

    cost: an array (n, m), a batch (B, n, m), whose answer is a list, a matrix of scipy.sparse, whose stored entries are
    the allowed pairs, explicit zeros too, or Points, whose distances are the costs. Dense arrays of torch, CuPy and JAX
    that are on a GPU are solved there, and no cost goes through the host; host_copies() counts those that have to.
    forbidden: a boolean array of cost's shape, True where a pair must not be matched; infinite costs forbid too.
    limit: a threshold: a row and a column left unmatched cost so much together, so that no dearer pair is matched.
    check: False leaves out the check of the answer; nothing is proven then.
    device: "host", "cuda" or "cuda:1"; None is the first GPU where there is one.
    k_best: of one matrix, so many matchings, the best first, in the result's `best` (Murty 1968), each proven best of
    those that are left.
    bottleneck: True makes the worst matched cost as good as can be, in place of the sum (Gross 1959), on the host.
    start: where to begin: the result of a similar matrix with its duals, or duals u (n,) and v (m,) in the costs' unit,
    feasible or not. The answer is as exact as without. Of one matrix.
    supply, capacity: units that each row ships, and that each column takes at most: whole numbers (n,) and (m,), or one for all. The
    answer is then a TransportResult, found on the host: all of the side whose sum is less is shipped.
    progress: called with an Incumbent, on the host: the bound, and the share of the rows that are matched; one that
    returns True ends the solve. True shows a bar of tqdm.
    time_limit: seconds. Raises CancelledError where it ends the solve without an answer, InfeasibleError (with the
    proof in `report`) where one matrix has no full matching, CostError where a cost cannot be used. In a batch
    infeasible matrices have results with `infeasible` set.
    """
    further = encode(ASSIGNMENT, options) if options else None
    maximize, bottleneck, check, duals = truth("maximize", maximize), truth("bottleneck", bottleneck), truth("check", check), truth("duals", duals)
    if supply is not None or capacity is not None:
        if options or limit is not None or algorithm is not None or k_best != 1 or bottleneck or start is not None or hasattr(cost, "tocsr") or isinstance(cost, Points) and forbidden is not None:
            raise ValueError("supply, capacity: expected a matrix or points, and no other keywords than forbidden, duals, check, device, time_limit and progress")
        if lib.device_index(device) >= 0 and device is not None:
            raise ValueError(f"device: found {device!r}, expected host: flows are found there")
        a = cost if isinstance(cost, Points) else _matrix(_device.to_host(cost) if type(cost) is not np.ndarray and _device.on_gpu(cost) else cost)
        if forbidden is not None and not isinstance(a, Points):
            a = np.where(_mask(forbidden, a.shape), -np.inf if maximize else np.inf, a)
        from ._transport import solve_transport
        return solve_transport(a, supply, capacity, maximize, duals=duals, check=check, time_limit=time_limit, progress=progress)
    k_best, limit = whole("k_best", k_best, 1, lib.MOST), None if limit is None else real("limit", limit)
    if type(cost) is not np.ndarray and _device.on_gpu(cost):
        plain = forbidden is None and limit is None and k_best == 1 and not bottleneck and start is None
        wide = cost
        while (found := _device.resident(wide) if plain and wide is not None else None) is not None and (device is None or lib.device_index(device) == found.view.device):
            try:
                results = _results_of_gpu(wide, found, bool(maximize), duals=duals, algorithm=algorithm, time_limit=time_limit, check=check, progress=progress, options=further)
            except lib.CostError:
                wide = _device.wider(wide)
                continue
            if results is not None:
                return results
            break
        cost = _device.to_host(cost)
    sparse = points = None
    if isinstance(cost, Points):
        if forbidden is not None:
            raise ValueError("forbidden: all pairs of points are allowed; limit bounds their distances")
        points, a = cost, np.empty((0, 0))
    elif hasattr(cost, "tocsr"):
        if forbidden is not None:
            raise ValueError("forbidden: a sparse matrix leaves forbidden pairs out")
        csr = cost.tocsr()
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        a = _matrix(csr.data.reshape(1, -1))
        sparse = (np.ascontiguousarray(csr.indptr, np.int64), np.ascontiguousarray(csr.indices, np.int32), csr.shape)
        a = np.ascontiguousarray(a)
    else:
        a = _matrix(cost)
        if forbidden is not None:
            mask = _mask(forbidden, a.shape)
            if a.ndim == 2 and a.dtype.kind != "f" and a.dtype.itemsize == 8:  # float64 would round them
                allowed = np.nonzero(~mask)
                starts = np.concatenate(([0], np.cumsum((~mask).sum(axis=1)))).astype(np.int64)
                sparse, a = (starts, allowed[1].astype(np.int32), a.shape), np.ascontiguousarray(a[allowed].reshape(1, -1))
            else:
                a = np.where(mask, -np.inf if maximize else np.inf, a if a.dtype.kind == "f" else a.astype(np.float64))
    batch = not sparse and a.ndim == 3
    index = lib.device_index(device)
    if index < 0 and 0 < a.size <= _DIRECT and algorithm is None and time_limit is None and start is None and further is None and not (batch or points or bottleneck or progress) and check:
        plain = sparse is None and limit is None and k_best == 1
        if plain or a.size * k_best <= _DIRECT_LISTED:
            result = _direct(a, maximize, duals, sparse, limit, k_best)
            if result is not None:
                return result
    if k_best > 1 and (batch or bottleneck):
        raise ValueError(f"k_best: found {k_best}, expected 1 of batches and with bottleneck")
    if start is not None and batch:
        raise ValueError("start: expected one matrix, found a batch")
    try:
        answer = _solve(a, bool(maximize), sparse=sparse, points=points, start=start, progress=progress, limit=limit, duals=duals and not bottleneck, device=index,
                        algorithm=algorithm, time_limit=time_limit, check=check, infeasible=batch, k_best=k_best,
                        bottleneck=bottleneck, options=further)
    except lib.Interrupted as e:
        raise lib.Interrupted(None if e.result is None else _results(e.result, batch)) from None
    return _results(answer, batch)


def _mask(forbidden: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The pairs that must not be matched."""
    mask = _device.on_host(forbidden)
    if mask.dtype != bool:
        raise TypeError(f"forbidden: found an array of {mask.dtype}, expected booleans, True where a pair is forbidden")
    if mask.shape != shape:
        raise ValueError(f"forbidden: found the shape {mask.shape}, expected {shape}")
    return mask


def _direct(a: NDArray[Any], maximize: bool, duals: bool, sparse: Optional[_Sparse], limit: Optional[float], k_best: int) -> Optional[AssignmentResult]:
    """solve_assignment of one small matrix on the host, on this thread; None where a job has to tell what is wrong."""
    kept = _reported
    if kept.busy:
        return None
    rows, cols = sparse[2] if sparse else a.shape
    kept.fit(rows, cols)
    p = kept.problem
    p.flags = lib.REPORT | (lib.MAXIMIZE if maximize else 0)
    p.type = lib.TYPES[a.dtype.char]
    p.rows, p.cols, p.k_best = rows, cols, k_best
    p.row_stride, p.col_stride = a.strides
    p.costs = a.__array_interface__["data"][0]
    if limit is not None:
        p.flags, p.limit = p.flags | lib.LIMIT, limit
    if sparse:
        p.start, p.col = sparse[0].ctypes.data, sparse[1].ctypes.data
    else:
        p.start = p.col = None
    kept.busy, kept.scale.value = True, math.nan
    try:
        if lib.LIB.coalesce_assign(kept.address):
            return None
        raw = (kept.u[:rows].copy(), kept.v[:cols].copy(), kept.scale.value) if duals and kept.scale.value == kept.scale.value else None
        return AssignmentResult(kept.text.value, kept.column[:rows].copy(), raw, False)
    finally:
        kept.busy = False


def _results_of_gpu(x: Any, found: _device.Resident, maximize: bool, **settings: Any) -> Union[AssignmentResult, list[AssignmentResult], None]:
    """solve_assignment of an array on a GPU; None where it has no full matching, which is for the host to prove."""
    batch = len(x.shape) == 3
    a = np.empty((0, 0), found.view.dtype)
    try:
        answer = _solve(a, maximize, resident=found, infeasible=batch, **settings)
    except lib.InfeasibleError:
        return None
    except lib.Interrupted as e:
        raise lib.Interrupted() from e
    if found.turned:
        answer.column, answer.u, answer.v = _turned(answer.column, found.shape[2]), answer.v, answer.u
        for report in answer.reports:
            report["size"] = {"rows": found.shape[2], "columns": found.shape[1]}
    results = _results(answer, True)
    assert isinstance(results, list)
    for k in np.flatnonzero(answer.code):
        settings["device"] = "host"
        settings.pop("options", None)
        proof = solve_assignment(_device.to_host(x[int(k)])[None], maximize, **settings)
        assert isinstance(proof, list)
        results[k] = proof[0]
    return results if batch else results[0]


def _results(answer: _Answer, batch: bool) -> Union[AssignmentResult, list[AssignmentResult]]:
    results = []
    for k, report in enumerate(answer.reports):
        raw = None
        if answer.u is not None and answer.v is not None and not np.isnan(answer.scale[k]):
            raw = answer.u[k], answer.v[k], float(answer.scale[k])
        results.append(AssignmentResult(report, answer.column[k], raw, bool(answer.code[k])))
    return results if batch else results[0]
