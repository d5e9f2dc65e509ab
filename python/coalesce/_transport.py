"""Transportation: supplies of rows, capacities of columns, and optimal transport between masses."""

from __future__ import annotations

import ctypes
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

import numpy as np

from . import _device
from . import _library as lib
from ._arguments import not_a_number, numbers_of
from ._assignment import Points, solve_assignment
from ._keywords import start
from ._progress import Told
from ._report import Report
from ._results import AssignmentFields

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# A flow over at most so many pairs takes less than some milliseconds: it has no history to keep.
_DIRECT = 1 << 10

_MOST = 1 << 61  # sum of amounts


@dataclass(repr=False, eq=False)
class TransportResult(Report, AssignmentFields):
    """A flow of least cost.

    rows, cols: int64, the pairs with a flow, row by row. amounts: int64, what each ships, 1 or more. shape: (n, m). u, v: duals
    float64 (n,) and (m,) in the costs' unit: u[i] + v[j] <= c[i, j] for every allowed pair (>= where it maximises), to the rounding that
    certificate["scale"] tells; None where nobody asked for them.
    """

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    amounts: NDArray[np.int64]
    shape: tuple[int, int]

    @property
    def plan(self) -> NDArray[np.int64]:
        """The amounts as a matrix (n, m)."""
        dense = np.zeros(self.shape, np.int64)
        dense[self.rows, self.cols] = self.amounts
        return dense

    @property
    def sparse(self) -> Any:
        """The amounts as a scipy.sparse.csr_array (n, m)."""
        from scipy.sparse import csr_array
        return csr_array((self.amounts, (self.rows, self.cols)), shape=self.shape)

    @property
    def u(self) -> Optional[NDArray[np.float64]]:
        """The duals of rows, in the costs' unit; None where there are none."""
        return self._dual("u")

    @property
    def v(self) -> Optional[NDArray[np.float64]]:
        """The duals of columns, in the costs' unit; None where there are none."""
        return self._dual("v")

    def _dual(self, side: str) -> Optional[NDArray[np.float64]]:
        duals = self.report.get("duals")
        return None if duals is None else np.array(duals[side], np.float64)


def amounts(name: str, given: Any, count: int) -> NDArray[np.int64]:
    """Whole amounts, one for each of count members: given ones, one number for all, or None for 1 each."""
    found = np.asarray(1 if given is None else given)
    if found.dtype.kind not in "iub" and not (found.dtype.kind == "f" and np.array_equal(found, np.floor(found))):
        raise TypeError(f"{name}: found the type {found.dtype}, expected whole numbers; coalesce.emd takes real masses")
    if found.ndim == 0:
        found = np.broadcast_to(found, (count,))
    if found.shape != (count,):
        raise ValueError(f"{name}: found the shape {found.shape}, expected ({count},)")
    if count and (found.min() < 0 or math.fsum(found.tolist()) > _MOST):
        raise ValueError(f"{name}: expected amounts of 0 and more that add up to at most 2**61")
    return np.ascontiguousarray(found, np.int64)


def solve_transport(cost: Union[NDArray[Any], Points], supply: Any, capacity: Any, maximize: bool = False, *, duals: bool = True, check: bool = True,
                    time_limit: Optional[float] = None, progress: Any = None) -> TransportResult:
    """solve_assignment with supplies or capacities. cost: a real array (n, m), or points."""
    if isinstance(cost, Points):
        if cost.floor:
            raise ValueError("floor: found True with supply or capacity, expected False")
        shape = len(cost.row), len(cost.col)
        return _start({"row_points": cost.row.reshape(-1), "col_points": cost.col.reshape(-1)}, shape, supply, capacity,
                      {"metric": cost.metric, "maximize": maximize, "duals": duals, "check": check}, time_limit, progress)
    if cost.ndim != 2:
        raise ValueError(f"cost: found the shape {cost.shape}, expected one matrix, with supply or capacity")
    kind = np.float32 if cost.dtype == np.float32 else np.float64 if cost.dtype.kind == "f" else np.int32 if np.can_cast(cost.dtype, np.int32) else np.int64
    if cost.dtype == np.uint64 and cost.size and cost.max() >= 1 << 63:
        raise lib.CostError(f"cost: found {cost.max()}, expected integers below 2**63")
    costs = np.ascontiguousarray(cost, kind).reshape(-1)
    if kind == np.int32 and cost.size and cost.max() == np.iinfo(np.int32).max:
        costs = costs.astype(np.int64)  # the largest number of int32 would forbid the pair
    return _start({"costs": costs}, (int(cost.shape[0]), int(cost.shape[1])), supply, capacity, {"maximize": maximize, "duals": duals, "check": check}, time_limit, progress)


def _start(given: dict[str, NDArray[Any]], shape: tuple[int, int], supply: Any, capacity: Any, options: dict[str, Any], time_limit: Optional[float],
           progress: Any) -> TransportResult:
    """The job transport of costs or points."""
    given.update(supply=amounts("supply", supply, shape[0]), capacity=amounts("capacity", capacity, shape[1]))
    options.update(rows=shape[0], device="host")
    if time_limit is not None:
        options["time_limit"] = time_limit

    def finish(report: dict[str, Any]) -> TransportResult:
        table = np.array([(x["row"], x["column"], x["amount"]) for x in report.pop("flow") or []], np.int64).reshape(-1, 3)
        return TransportResult(report, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), shape)

    small = shape[0] * shape[1] <= _DIRECT and time_limit is None
    result: TransportResult = start("transport", json.dumps(options).encode(), given, finish, Told(progress, time_limit, keep=not small), small)
    return result


def _masses(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Masses of equal sums as whole amounts of equal sums, and the power of two that is the amount of the mass 1."""
    total = math.fsum(a.tolist())
    shift = 0
    if not (np.array_equal(a, np.floor(a)) and np.array_equal(b, np.floor(b)) and total == math.fsum(b.tolist()) and total <= 2.0**53):
        shift = 60 - math.frexp(total)[1] if total > 0 else 0
    x, y = (np.rint(np.ldexp(m, shift)).astype(np.int64) for m in (a, b))
    left = int(x.sum()) - int(y.sum())  # what rounding makes of equal sums
    if left and len(y):
        y[int(y.argmax())] += left
    return x, y, shift


def _checked(name: str, given: ArrayLike, count: int) -> NDArray[np.float64]:
    found = np.asarray(given, np.float64)
    if found.size == 0:
        return np.full(count, 1.0 / count if count else 0.0)
    if found.shape != (count,):
        raise ValueError(f"{name}: found the shape {found.shape}, expected ({count},)")
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"{name}: expected masses of 0 and more")
    return found


@dataclass
class _Plan:
    """An exact plan: pairs and masses that they ship, duals, and the cost."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    shipped: NDArray[np.float64]
    shape: tuple[int, int]
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    cost: float
    report: dict[str, Any]

    def dense(self) -> NDArray[np.float64]:
        plan = np.zeros(self.shape)
        plan[self.rows, self.cols] = self.shipped
        return plan

    def sparse(self) -> Any:
        from scipy.sparse import csr_array
        return csr_array((self.shipped, (self.rows, self.cols)), shape=self.shape)


def _transport(a: ArrayLike, b: ArrayLike, costs: Union[NDArray[Any], Points], center_dual: bool, check_marginals: bool, logged: bool = False) -> _Plan:
    """The plan of one matrix, or of points. logged: its report is wanted."""
    points = costs if isinstance(costs, Points) else None
    shape = (len(points.row), len(points.col)) if points else (int(costs.shape[0]), int(costs.shape[1]))  # type: ignore[union-attr]
    x, y = _checked("a", a, shape[0]), _checked("b", b, shape[1])
    sums = math.fsum(x.tolist()), math.fsum(y.tolist())
    if check_marginals and not math.isclose(sums[0], sums[1], rel_tol=1e-7, abs_tol=1e-12):
        raise ValueError(f"a and b: found masses of {sums[0]:g} and {sums[1]:g} in all, expected equal sums")
    if not 0 < sums[0] < math.inf or not 0 < sums[1] < math.inf:
        if sums != (0, 0):
            raise ValueError(f"a and b: found masses of {sums[0]:g} and {sums[1]:g} in all, expected equal sums")
    elif sums[0] != sums[1]:
        y = y * (sums[0] / sums[1])
    u: Optional[NDArray[np.float64]]
    v: Optional[NDArray[np.float64]]
    report: dict[str, Any] = {}
    equal = shape[0] == shape[1] > 0 and x[0] > 0 and (x == x[0]).all() and (y == y[0]).all()  # a matching, so much on each pair
    direct = None if points or equal or logged or not sums[0] > 0 else _direct(x, y, costs)  # type: ignore[arg-type]
    if direct is not None:
        rows, cols, shipped, u, v = direct
    elif equal:
        matching = solve_assignment(costs, device="host")
        rows, cols, shipped, u, v, report = np.arange(shape[0]), matching.column.astype(np.int64), x, matching.u, matching.v, matching.report
    else:
        whole_x, whole_y, shift = _masses(x, y)
        r = solve_transport(costs, whole_x, whole_y)
        rows, cols, shipped, u, v, report = r.rows, r.cols, np.ldexp(r.amounts.astype(np.float64), -shift), r.u, r.v, r.report
    assert u is not None and v is not None
    if center_dual and len(u) and len(v):  # a constant that moves between the sides means nothing
        constant = (u.mean() - v.mean()) / 2
        u, v = u - constant, v + constant
    each = _distances(points, rows, cols) if points else costs[rows, cols].astype(np.float64)  # type: ignore[index]
    return _Plan(rows, cols, shipped, shape, u, v, math.fsum((each * shipped).tolist()), report)


_BRIEF = 1 << 20  # pairs of a problem that takes some hundredths of a second: none waits for ctrl-C so long


def _direct(a: NDArray[np.float64], b: NDArray[np.float64], costs: NDArray[Any]) -> Optional[tuple[Any, ...]]:
    """Pairs, what they ship, and duals, by one call on this thread; None of large costs, and where the library says what is wrong with these."""
    if costs.dtype not in (np.float64, np.float32, np.int64) or not 0 < costs.size <= _BRIEF or not costs.flags.c_contiguous or not costs.flags.aligned:
        return None
    n, m = costs.shape
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    rows, cols, amounts, u, v = np.empty(n + m, np.int32), np.empty(n + m, np.int32), np.empty(n + m), np.empty(n), np.empty(m)
    count = ctypes.c_int64(0)
    p = lib.Transports(size=ctypes.sizeof(lib.Transports), device=lib.HOST, type=lib.TYPES[costs.dtype.char], batch=1, rows=n, cols=m, costs=costs.ctypes.data,
                       a=a.ctypes.data, b=b.ctypes.data, u=u.ctypes.data, v=v.ctypes.data, pair_row=rows.ctypes.data, pair_col=cols.ctypes.data,
                       amount=amounts.ctypes.data, pairs=ctypes.addressof(count))
    if lib.LIB.coalesce_solve_transports(ctypes.addressof(p)) != lib.OK:
        return None
    k = count.value
    return rows[:k].astype(np.int64), cols[:k].astype(np.int64), amounts[:k], u, v


def _distances(points: Points, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
    """The costs of pairs of points."""
    gap = points.row[rows] - points.col[cols]
    if points.metric == "manhattan":
        return np.asarray(np.abs(gap).sum(1))
    squares = (gap * gap).sum(1)
    return np.asarray(squares if points.metric == "squared" else np.sqrt(squares))


def emd(a: ArrayLike, b: ArrayLike, M: Any, numItermax: int = 100000, log: bool = False, center_dual: bool = True, numThreads: int = 1,
        check_marginals: bool = True) -> Union[Any, tuple[Any, dict[str, Any]]]:
    """The exact plan of optimal transport, with the signature of POT's ot.emd.

    a: masses (n,) of the rows, b: (m,) of the columns, of equal sums up to rounding: b is scaled to a's; empty ones are equal masses. M: costs
    (n, m), a batch (B, n, m) with a (B, n) and b (B, m), or Points, whose distances are computed where they are needed. Masses are whole
    multiples of 2^-60 of their sum, and the plan is optimal for these, proven by its duals.
    Costs of torch or CuPy on a GPU of at most about 8,000 rows and columns together are solved there, a batch in one launch, by the current stream, and the
    plan, the duals and the cost stay there.
    Returns the plan, float64 of M's shape, a tensor where M is one, and a scipy.sparse.csr_array (n, m) of points; with log also a dictionary of
    cost, u, v, warning and result_code. numItermax and numThreads are taken and have no effect.
    Raises ValueError of other shapes, negative masses and, with check_marginals, of sums that differ by more than 1e-7.
    """
    plans, logs = _plans(a, b, M, numItermax, center_dual, check_marginals, log)
    plan = _plan_of(plans, M)
    return (plan, logs) if log else plan


@dataclass
class _Placed:
    """Plans on a GPU, of the costs' shape."""

    plan: Any


def _placed(a: Any, b: Any, M: Any, center_dual: bool, check_marginals: bool) -> Optional[tuple[_Placed, dict[str, Any]]]:
    """The plans of costs on a GPU, which stay there, and POT's log; None where no kernel finds them there."""
    found = _device.transport(a, b, M, 0 if check_marginals else lib.ANY_SUMS)
    if found is None:
        return None
    code, (plan, u, v, cost) = found
    if code in (lib.INVALID, lib.COST):
        return None  # the host says what is wrong, and takes masses that are all zero
    if code != lib.OK:
        raise lib.error(code, _device.fault())
    if center_dual:
        constant = (u.mean(-1) - v.mean(-1))[..., None] / 2
        u, v = u - constant, v + constant
    kind = M.dtype if str(M.dtype).rpartition(".")[2].startswith(("float", "bfloat")) else u.dtype
    plan, u, v, cost = (x.to(kind) if _is_torch(x) else x.astype(kind) for x in (plan, u, v, cost))
    return _Placed(plan), {"cost": cost, "u": u, "v": v, "warning": None, "result_code": 1}


def _on_all_cores(solve: Callable[[int], _Plan], count: int) -> list[_Plan]:
    """The plans of a batch: several at once, as each of a small matrix takes one core."""
    threads = min(count, os.cpu_count() or 1)
    if threads < 2:
        return [solve(k) for k in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(solve, range(count)))


def _plans(a: Any, b: Any, M: Any, most: int, center_dual: bool, check_marginals: bool, logged: bool = False) -> tuple[Union[_Plan, list[_Plan], _Placed], dict[str, Any]]:
    """The plan, or those of a batch, and POT's log."""
    if most < 1:
        raise ValueError(f"numItermax: found {most}, expected 1 or more")
    if not isinstance(M, Points) and _device.on_gpu(M) and (placed := _placed(a, b, M, center_dual, check_marginals)) is not None:
        return placed
    costs = M if isinstance(M, Points) else _host("M", M)
    x, y = _host("a", a), _host("b", b)
    plans: Union[_Plan, list[_Plan], _Placed]
    if isinstance(costs, Points) or costs.ndim == 2:
        plans = one = _transport(x, y, costs, center_dual, check_marginals, logged)
        logs: dict[str, Any] = {"cost": one.cost, "u": one.u, "v": one.v, "warning": None, "result_code": 1, "report": one.report}
    elif costs.ndim == 3:
        def one_of(k: int) -> _Plan:
            return _transport(x[k] if x.size else x, y[k] if y.size else y, costs[k], center_dual, check_marginals)

        plans = _on_all_cores(one_of, len(costs))
        logs = {name: np.array([getattr(p, name) for p in plans]) for name in ("cost", "u", "v")}
        logs.update(warning=None, result_code=1)
    else:
        raise ValueError(f"M: found the shape {costs.shape}, expected (n, m) or (B, n, m)")
    return plans, {name: _like(M, value) if isinstance(value, np.ndarray) else value for name, value in logs.items()}


def _plan_of(plans: Union[_Plan, list[_Plan], _Placed], M: Any) -> Any:
    """Plans as a matrix, a batch or a tensor, as M is one."""
    if isinstance(plans, _Placed):
        return plans.plan
    if isinstance(plans, list):
        return _like(M, np.stack([p.dense() for p in plans]) if plans else np.zeros(M.shape))
    return plans.sparse() if isinstance(M, Points) else _like(M, plans.dense())


def emd2(a: Any, b: Any, M: Any, processes: int = 1, numItermax: int = 100000, log: bool = False, return_matrix: bool = False, center_dual: bool = True,
         numThreads: int = 1, check_marginals: bool = True) -> Any:
    """The cost of optimal transport, with the signature of POT's ot.emd2.

    Arguments as for emd. Where one of them is a tensor of torch the cost is a tensor, whose gradients are the duals for a and b, which are centred,
    and the plan for M. Of a batch it is the costs (B,). With log or return_matrix also a dictionary of cost, u, v, warning, result_code and, with
    return_matrix, G, the plan.
    """
    plans, logs = _plans(a, b, M, numItermax, center_dual, check_marginals, log)
    cost = logs["cost"]
    tensor = next((x for x in (M, a, b) if _is_torch(x)), None)
    if tensor is not None:
        cost = _with_gradient(a, b, M, plans, logs, tensor)
    if return_matrix:
        logs["G"] = _plan_of(plans, M)
    return (cost, logs) if log or return_matrix else cost


def _is_torch(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "torch"


def _host(name: str, x: Any) -> NDArray[Any]:
    """An array of NumPy, of real numbers."""
    found = _device.on_host(x.cpu() if _is_torch(x) else _device.to_host(x) if _device.on_gpu(x) else x)
    if found.dtype.kind == "O":
        found = numbers_of(found)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{name}: found the type {found.dtype}, expected real numbers{not_a_number(found)}")
    return found


def _like(x: Any, found: NDArray[Any]) -> Any:
    """An array where x is, of x's kind."""
    if _is_torch(x):
        import torch
        return torch.as_tensor(found, dtype=x.dtype if x.dtype.is_floating_point else torch.float64, device=x.device)
    return found


def _with_gradient(a: Any, b: Any, M: Any, plans: Union[_Plan, list[_Plan], _Placed], logs: dict[str, Any], like: Any) -> Any:
    """The cost as a tensor whose gradients are duals and plan."""
    import torch

    kind = like.dtype if like.dtype.is_floating_point else torch.float64

    def centred(x: Any) -> Any:
        x = torch.as_tensor(x, dtype=kind, device=like.device)
        return x - x.mean(-1, keepdim=True)

    class Cost(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, M: Any) -> Any:
            ctx.save_for_backward(centred(logs["u"]), centred(logs["v"]))
            return torch.as_tensor(logs["cost"], dtype=kind, device=like.device)

        @staticmethod
        def backward(ctx: Any, grown: Any) -> Any:
            u, v = ctx.saved_tensors
            of = grown.unsqueeze(-1)
            costs = of.unsqueeze(-1) * _plan_of(plans, M) if ctx.needs_input_grad[2] else None
            return of * u if ctx.needs_input_grad[0] else None, of * v if ctx.needs_input_grad[1] else None, costs

    def tensor(x: Any) -> Any:
        return x if _is_torch(x) else torch.as_tensor(np.asarray(x, np.float64), dtype=kind, device=like.device)

    return Cost.apply(tensor(a), tensor(b), M if _is_torch(M) else None)
