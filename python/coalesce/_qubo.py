"""Binary quadratic programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Hashable, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _device
from . import _library as lib
from ._arguments import not_a_number, truth
from ._keywords import encode, keywords, start
from ._options import QUBO, QUBOOptions
from ._progress import Progress, Told
from ._report import Report
from ._results import QUBOFields

if TYPE_CHECKING:
    from typing_extensions import Unpack


# A program of at most so many variables is solved by looking at all, in less than a millisecond.
_DIRECT = 12
_PROVEN = ("seed", "target", "start", "threads")  # options with which it is still proven at once


@dataclass(frozen=True)
class Solution:
    """One of several solutions: x as in QUBOResult, its value, and the seconds after which it was found."""

    x: NDArray[np.int8]
    value: float
    seconds: float


@dataclass(repr=False, eq=False)
class QUBOResult(Report, QUBOFields):
    """An answer to a quadratic program.

    x: int8 (n,), the best solution: 0 and 1, or -1 and +1 of spins. solutions: those that were asked for, best first.
    variables: the labels of x's entries, where Q was a dict. sample: x by label.
    history: (seconds, value) at each improvement.
    """

    x: NDArray[np.int8]
    variables: list[Hashable]
    solutions: list[Solution]

    @property
    def sample(self) -> dict[Hashable, int]:
        """The value of each variable, by its label."""
        return {label: int(x) for label, x in zip(self.variables, self.x)}

    @property
    def history(self) -> list[tuple[float, float]]:
        """The seconds after which each better solution was found, and its value."""
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
    a = _device.on_host(Q)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"Q: found an array of the shape {a.shape}, expected a square matrix")
    if wrong := not_a_number(a):
        raise TypeError(f"Q{wrong}")
    row, col = np.nonzero(a)
    return a.shape[0], row.astype(np.int32), col.astype(np.int32), a[row, col], list(range(a.shape[0]))


@keywords(QUBOOptions)
def solve_qubo(Q: Any, maximize: bool = False, *, ising: bool = False, device: Union[str, int, None] = None, progress: Progress = None,
               **options: Unpack[QUBOOptions]) -> QUBOResult:
    """The best x in {0, 1}^n found for the sum of Q[i, j] x[i] x[j], minimised, or maximised.

    Q: a square array, a matrix of scipy.sparse, or a dict of pairs of variables; both triangles count, the diagonal is
    linear. ising: x in {-1, +1}^n; the diagonal stays linear. Small programs are proven where one solution is asked for;
    looking for several takes shortcuts away that proofs need.
    progress: called with an Incumbent at each improvement; one that returns True ends the solve, one that raises too,
    and its exception is raised here. True shows a bar of tqdm. Ctrl-C ends the search with the best so far, whose interrupted is true.
    Raises ValueError where Q is not square or a key not a pair, TypeError of coefficients that are not real numbers, and
    CostError of one that is not a number or infinite.
    """
    n, i, j, c, labels = entries(Q)
    return solve_entries(n, i, j, c, labels, maximize=maximize, ising=ising, device=device, progress=progress, **options)


def solve_entries(n: int, i: NDArray[Any], j: NDArray[Any], c: NDArray[Any], labels: list[Hashable], *, maximize: bool = False,
                  ising: bool = False, device: Union[str, int, None] = None, progress: Progress = None, ask: Optional[Callable[[], Any]] = None,
                  **options: Unpack[QUBOOptions]) -> QUBOResult:
    """solve_qubo for n variables and coefficients c[k] of the variables i[k] and j[k]. ask: called every 50 ms; the search ends once it is true."""
    if c.dtype.kind in "bi" or c.dtype.kind == "u" and c.dtype.itemsize < 8:
        c = np.ascontiguousarray(c, np.int64)
    elif c.dtype.kind in "fuO":
        c = np.ascontiguousarray(c, np.float64)
    else:
        raise TypeError(f"Q: found coefficients of type {c.dtype}, expected real numbers")
    i, j = np.ascontiguousarray(i, np.int32), np.ascontiguousarray(j, np.int32)
    maximize, ising = truth("maximize", maximize), truth("ising", ising)
    text = encode(QUBO, options, variables=n, maximize=maximize, ising=ising, device=lib.device_name(device))

    def finish(report: dict[str, Any]) -> QUBOResult:
        several = [Solution(_bits(s["solution"], ising), float(s["value"]), s["seconds"]) for s in report.pop("solutions")]
        x = _bits(report.pop("solution"), ising)
        return QUBOResult(report, x, labels, several)

    told = Told(progress, options.get("time_limit") or (None if options.get("work") else 10.0), ask=ask)
    result: QUBOResult = start("qubo", text, {"i": i, "j": j, "coefficients": c}, finish, told, small=n <= _DIRECT and all(x is None or name in _PROVEN for name, x in options.items()))
    return result
