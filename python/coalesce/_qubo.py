"""Binary quadratic programs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Hashable, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _library as lib
from ._arguments import real, seconds, text, truth, whole
from ._progress import Progress, Told, run
from ._report import Report


@dataclass(frozen=True)
class Solution:
    """One of several solutions: x as in QUBOResult, its value, and the seconds after which it was found."""

    x: NDArray[np.int8]
    value: float
    seconds: float


@dataclass(repr=False, eq=False)
class QUBOResult(Report):
    """An answer to a quadratic program.

    x: int8 (n,), the best solution: 0 and 1, or -1 and +1 of spins. solutions: those that were asked for, best first.
    variables: the labels of x's entries, where Q was a dict. sample: x by label. seed: of the random numbers.
    history: (seconds, value) at each improvement.
    """

    x: NDArray[np.int8]
    variables: list[Hashable]
    solutions: list[Solution]

    @property
    def sample(self) -> dict[Hashable, int]:
        return {label: int(x) for label, x in zip(self.variables, self.x)}

    @property
    def seed(self) -> int:
        return int(self.report["seed"])

    @property
    def history(self) -> list[tuple[float, float]]:
        return [(h["seconds"], float(h["value"])) for h in self.report["history"]]


def _bits(text: str, spins: bool) -> NDArray[np.int8]:
    x = (np.frombuffer(text.encode(), np.uint8) - ord("0")).astype(np.int8) if not spins or "+" not in text and "-" not in text \
        else (np.frombuffer(text.encode(), np.uint8) == ord("+")).astype(np.int8)
    return 2 * x - 1 if spins else x


def entries(Q: Any) -> tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[Any], list[Hashable]]:
    """n, the variables of each coefficient, coefficients, labels: of a dict, a matrix of scipy.sparse, or an array."""
    if isinstance(Q, dict):
        number_of: dict[Hashable, int] = {}
        for pair in Q:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"Q: found the key {pair!r}, expected a pair of variables")
            for label in pair:
                number_of.setdefault(label, len(number_of))
        labels = list(number_of)
        if all(isinstance(x, int) for x in labels):
            labels = sorted(labels)  # type: ignore[type-var]
            number_of = {label: k for k, label in enumerate(labels)}
        i = np.array([number_of[a] for a, _ in Q], np.int32)
        j = np.array([number_of[b] for _, b in Q], np.int32)
        return len(labels), i, j, np.array(list(Q.values()) or [0.0])[:len(Q)], labels
    if hasattr(Q, "tocoo"):
        coo = Q.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise ValueError(f"Q: found {coo.shape[0]} x {coo.shape[1]} coefficients, expected a square matrix")
        return coo.shape[0], coo.row.astype(np.int32), coo.col.astype(np.int32), coo.data, list(range(coo.shape[0]))
    a = np.asarray(Q)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"Q: found an array of the shape {a.shape}, expected a square matrix")
    row, col = np.nonzero(a)
    return a.shape[0], row.astype(np.int32), col.astype(np.int32), a[row, col], list(range(a.shape[0]))


def solve_qubo(Q: Any, maximize: bool = False, *, ising: bool = False, time_limit: Optional[float] = None,
               target: Optional[float] = None, seed: int = 0, work: int = 0, solutions: int = 0, distance: int = 0,
               device: Union[str, int, None] = None, algorithm: Optional[str] = None,
               progress: Progress = None) -> QUBOResult:
    """The best x in {0, 1}^n found for the sum of Q[i, j] x[i] x[j], minimised, or maximised.

    Q: a square array, a matrix of scipy.sparse, or a dict of pairs of variables; both triangles count, the diagonal is
    linear. ising: x in {-1, +1}^n; the diagonal stays linear.
    Ends at time_limit (seconds; without it and without work 10), at target, after work flips, or when the best is
    proven. With work the answer depends on seed, device and settings alone.
    solutions: how many distinct ones to look for, which differ in at least distance variables. Small programs are
    proven where one is asked for; looking for several takes shortcuts away that proofs need.
    progress: called with an Incumbent at each improvement; one that returns True ends the solve, one that raises too,
    and its exception is raised here. True shows a bar of tqdm. Ctrl-C ends the search with the best so far, whose interrupted is true.
    Raises ValueError where Q is not square or a key not a pair, TypeError of coefficients that are not real numbers, and
    CostError of one that is not a number or infinite.
    """
    n, i, j, c, labels = entries(Q)
    return solve_entries(n, i, j, c, labels, maximize=maximize, ising=ising, time_limit=time_limit, target=target, seed=seed, work=work,
                         solutions=solutions, distance=distance, device=device, algorithm=algorithm, progress=progress)


def solve_entries(n: int, i: NDArray[Any], j: NDArray[Any], c: NDArray[Any], labels: list[Hashable], *, maximize: bool = False,
                  ising: bool = False, time_limit: Optional[float] = None, target: Optional[float] = None, seed: int = 0, work: int = 0,
                  solutions: int = 0, distance: int = 0, device: Union[str, int, None] = None, algorithm: Optional[str] = None,
                  progress: Progress = None) -> QUBOResult:
    """solve_qubo for n variables and coefficients c[k] of the variables i[k] and j[k]."""
    if c.dtype.kind in "bi" or c.dtype.kind == "u" and c.dtype.itemsize < 8:
        c = np.ascontiguousarray(c, np.int64)
    elif c.dtype.kind in "fuO":
        c = np.ascontiguousarray(c, np.float64)
    else:
        raise TypeError(f"Q: found coefficients of type {c.dtype}, expected real numbers")
    i, j = np.ascontiguousarray(i, np.int32), np.ascontiguousarray(j, np.int32)
    p = lib.QUBO(size=ctypes.sizeof(lib.QUBO), device=lib.device_index(device), type=lib.TYPES[c.dtype.char], n=n, entries=len(c),
                 time_limit=seconds("time_limit", time_limit), target=float("nan") if target is None else real("target", target),
                 seed=whole("seed", seed, 0, 2**64 - 1), work=whole("work", work, 0, 2**63 - 1), solutions=whole("solutions", solutions, 0, lib.MOST),
                 distance=whole("distance", distance, 0, lib.MOST), algorithm=text("algorithm", algorithm))
    maximize, ising = truth("maximize", maximize), truth("ising", ising)
    p.flags = (lib.MAXIMIZE if maximize else 0) | (lib.ISING if ising else 0)
    p.i, p.j, p.coefficients = i.ctypes.data, j.ctypes.data, c.ctypes.data

    def finish(report: dict[str, Any]) -> QUBOResult:
        several = [Solution(_bits(s["solution"], ising), float(s["value"]), s["seconds"]) for s in report.pop("solutions")]
        x = _bits(report.pop("solution"), ising)
        return QUBOResult(report, x, labels, several)

    result: QUBOResult = run("qubo", p, finish, Told(progress, time_limit or (None if work else 10.0)))
    return result

