"""Coalition structure generation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

import numpy as np

from . import _library as lib
from ._arguments import checked_text, listed, whole
from ._keywords import encode, keywords, start as begin_solve
from ._options import CSG, CSGOptions
from ._progress import Progress, Told
from ._report import Report
from ._results import CSGFields

if TYPE_CHECKING:
    from typing_extensions import Unpack


# A game of at most so many coalitions is solved in less than a millisecond: it has no history to keep.
_DIRECT = 1 << 8


@dataclass(repr=False, eq=False)
class CSGResult(Report, CSGFields):
    """The coalition structure of the largest value. structure: lists of agents, numbers from 0."""

    structure: list[list[int]]


@keywords(CSGOptions)
def solve_csg(values: Any, agents: Optional[int] = None, *, device: Union[str, int, None] = None, sizes: Union[str, Iterable[int], None] = None,
              start: Optional[Iterable[Iterable[int]]] = None, checkpoint: Union[str, os.PathLike[str], None] = None, progress: Progress = None, **options: Unpack[CSGOptions]) -> CSGResult:
    """The partition of n agents into coalitions whose values add up to the most.

    values: an array of 2**n numbers, agent i (from 0) being bit i of a coalition's number, or a function of a tuple
    of agents, ascending; agents (n) is needed then. The empty coalition is worth 0, its entry is not used. Minus
    infinity forbids a coalition.
    sizes: how many agents a coalition may have, numbers or a text such as "1-3,5"; None: any.
    start: a structure to begin with: lists of agents, numbers from 0, such as the structure of an earlier result.
    checkpoint: a new file in which finished levels of the work are kept, by algorithm "apart"; resume goes on with a file
    that is there.
    After time_limit the best structure so far is the answer where there is one, not proven, else CancelledError.
    progress: called with an Incumbent, whose share says how much of the work is done; one that returns True ends the
    solve. True shows a bar of tqdm.
    Raises ValueError of other shapes, TypeError of values that are not real numbers, CostError of one that is not a number
    or plus infinity, and InfeasibleError where every structure has a forbidden coalition.
    """
    if callable(values):
        if agents is None:
            raise ValueError("agents: found None, expected how many there are, where values is a function")
        n = whole("agents", agents, 1, 40)
        a = np.array([0] + [values(tuple(k for k in range(n) if c >> k & 1)) for c in range(1, 1 << n)])
    else:
        a = np.asarray(values)
        if a.ndim != 1 or a.size < 2 or a.size & (a.size - 1):
            raise ValueError(f"values: found an array of the shape {a.shape}, expected 2**n numbers")
        n = a.size.bit_length() - 1
        if agents is not None and whole("agents", agents, 1, 40) != n:
            raise ValueError(f"values: found those of {n} agents, expected {agents}")
    if a.dtype.kind not in "biuf":
        raise TypeError(f"values: found the type {a.dtype}, expected real numbers")
    if a.dtype == np.uint64 and a[1:].max() < 1 << 63:
        a = a.astype(np.int64)
    elif a.dtype == np.uint64:
        raise lib.CostError(f"values: found {a[1:].max()}, expected integers below 2**63")
    kind = np.float32 if a.dtype == np.float32 else np.float64 if a.dtype.kind == "f" else \
        np.int32 if np.can_cast(a.dtype, np.int32) else np.int64
    a = np.array(a, kind, order="C")
    a[0] = 0
    members = sizes if sizes is None or isinstance(sizes, str) else ",".join(str(whole("sizes", k, 1, 40)) for k in listed("sizes", sizes))
    begin = None if start is None else json.dumps([[1 + whole("start", agent, 0, n - 1) for agent in listed("start", block)] for block in listed("start", start)])
    if options.get("resume") and checkpoint is None:
        raise ValueError("resume: expected the file of a checkpoint")
    text = encode(CSG, options, device=lib.device_name(device), sizes=None if members is None else checked_text()("sizes", members), start=begin,
                  checkpoint=None if checkpoint is None else os.fspath(checkpoint))

    def finish(report: dict[str, Any]) -> CSGResult:
        blocks: Iterable[Iterable[int]] = report.pop("solution")
        return CSGResult(report, [[agent - 1 for agent in block] for block in blocks])

    result: CSGResult = begin_solve("csg", text, {"values": a}, finish, Told(progress, options.get("time_limit"), keep=a.size > _DIRECT), small=a.size <= _DIRECT and checkpoint is None)
    return result
