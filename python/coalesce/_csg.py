"""Coalition structure generation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

import numpy as np

from . import _device
from . import _library as lib
from ._arguments import checked_text, listed, truth, whole
from ._keywords import encode, keywords, start as begin_solve
from ._options import CSG, CSGOptions
from ._progress import Progress, Told
from ._report import Report
from ._results import CSGFields, CSGListedFields

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
              blocks: Union[str, int, None] = None, together: Iterable[Iterable[int]] = (), separate: Iterable[Iterable[int]] = (), edges: Optional[Iterable[Iterable[int]]] = None,
              start: Optional[Iterable[Iterable[int]]] = None, minimize: bool = False, checkpoint: Union[str, os.PathLike[str], None] = None, progress: Progress = None, **options: Unpack[CSGOptions]) -> CSGResult:
    """The partition of n agents into coalitions whose values add up to the most.

    values: an array of 2**n numbers, agent i (from 0) being bit i of a coalition's number, or a function of a tuple
    of agents, ascending; agents (n) is needed then. The empty coalition is worth 0, its entry is not used. Minus
    infinity forbids a coalition.
    sizes: how many agents a coalition may have, numbers or a text such as "1-3,5"; None: any.
    blocks: how many coalitions the partition has: a number, or a text such as "1-4" or "2-"; None: any number.
    together, separate: agents that share a coalition, and agents of whom no two do: lists of numbers from 0.
    edges: pairs of agents, numbers from 0, or lists with an edge from each agent to the next. Coalitions are connected by them; None: they need not be.
    start: a structure to begin with: lists of agents, numbers from 0, such as the structure of an earlier result.
    minimize: find the least sum instead; prices in the report are those of the negated values.
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
        a = _device.on_host(values)
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
    if options.get("resume") and checkpoint is None:
        raise ValueError("resume: expected the file of a checkpoint")
    text = encode(CSG, options, device=lib.device_name(device), sizes=_sizes(sizes), blocks=_blocks(blocks), together=_groups("together", together, n),
                  separate=_groups("separate", separate, n), edges=_groups("edges", edges or (), n), start=_start(start, n), minimize=truth("minimize", minimize),
                  checkpoint=None if checkpoint is None else os.fspath(checkpoint))

    def finish(report: dict[str, Any]) -> CSGResult:
        blocks: Iterable[Iterable[int]] = report.pop("solution")
        return CSGResult(report, [[agent - 1 for agent in block] for block in blocks])

    result: CSGResult = begin_solve("csg", text, {"values": a}, finish, Told(progress, options.get("time_limit"), keep=a.size > _DIRECT), small=a.size <= _DIRECT and checkpoint is None)
    return result


def _sizes(sizes: Union[str, Iterable[int], None]) -> Optional[str]:
    """Numbers of members as the library's text."""
    if sizes is None:
        return None
    text: str = checked_text()("sizes", sizes if isinstance(sizes, str) else ",".join(str(whole("sizes", k, 1, 40)) for k in listed("sizes", sizes)))
    return text


def _blocks(blocks: Union[str, int, None]) -> Optional[str]:
    """A number of coalitions as the library's text."""
    return blocks if blocks is None or isinstance(blocks, str) else str(whole("blocks", blocks, 1, _AGENTS))


def _groups(name: str, lists: Iterable[Iterable[int]], n: int) -> Optional[list[str]]:
    """Lists of some of n agents as the library's texts."""
    return [" ".join(str(1 + whole(name, agent, 0, n - 1)) for agent in listed(name, group)) for group in listed(name, lists)] or None


def _start(start: Optional[Iterable[Iterable[int]]], n: int) -> Optional[str]:
    """A structure of n agents as the library's text."""
    return None if start is None else json.dumps([[1 + whole("start", agent, 0, n - 1) for agent in listed("start", block)] for block in listed("start", start)])


_AGENTS = 1 << 16  # of listed coalitions at most


@dataclass(repr=False, eq=False)
class CoalitionsResult(Report, CSGListedFields):
    """The best structure of listed coalitions. structure: lists of agents, numbers from 0. total: the sum of its values, exactly."""

    structure: list[list[int]]
    total: Decimal


@keywords(CSGOptions)
def solve_coalitions(values: Mapping[Iterable[int], Any], agents: Optional[int] = None, *, missing: Optional[float] = None, minimize: bool = False,
                     blocks: Union[str, int, None] = None, together: Iterable[Iterable[int]] = (), separate: Iterable[Iterable[int]] = (),
                     edges: Optional[Iterable[Iterable[int]]] = None, sizes: Union[str, Iterable[int], None] = None, start: Optional[Iterable[Iterable[int]]] = None,
                     device: Union[str, int, None] = None, progress: Progress = None, **options: Unpack[CSGOptions]) -> CoalitionsResult:
    """The partition of n agents into listed coalitions whose values add up to the most, by branch and cut.

    values: the value of each coalition, by its agents, numbers from 0: {(0, 2): 1.5}. Values are exact decimals: a float stands
    for the shortest decimals that give it.
    agents: how many there are (n); None: as many as the largest number says.
    missing: the value of coalitions that are not listed: minus infinity, which forbids them, or 0.
    minimize: find the least sum instead.
    blocks: how many coalitions the partition has: a number, or a text such as "1-4" or "2-"; None: any number.
    together, separate: agents that share a coalition, and agents of whom no two do: lists of numbers from 0.
    edges: pairs of agents, numbers from 0, or lists with an edge from each agent to the next. Coalitions are connected by them; None: they need not be.
    sizes: how many agents a coalition may have, numbers or a text such as "1-3,5"; None: any.
    start: a structure to begin with: lists of agents, numbers from 0, such as the structure of an earlier result.
    After time_limit the best structure so far is the answer where there is one, not proven.
    progress: called with an Incumbent; one that returns True ends the solve. True shows a bar of tqdm.
    Raises ValueError of a coalition without agents or with one twice, CostError of a value that is not a number, and InfeasibleError
    where no listed coalitions have each agent once.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"values: found {type(values).__name__}, expected a dict of coalitions")
    rows: dict[str, str] = {}
    n = 0 if agents is None else whole("agents", agents, 1, _AGENTS)
    most = 0
    for coalition, value in values.items():
        members = sorted(1 + whole("values: an agent", agent, 0, (n or _AGENTS) - 1) for agent in listed("values: a coalition", coalition))
        if not members or len(set(members)) < len(members):
            raise ValueError(f"values: found the coalition {coalition!r}, expected agents, each once")
        key = " ".join(map(str, members))
        if key in rows:
            raise ValueError(f"values: found the coalition {coalition!r} again, expected each once")
        most = max(most, members[-1])
        try:
            amount = Decimal(str(value))
        except ArithmeticError:  # no decimal
            amount = Decimal("NaN")
        if not amount.is_finite() and amount != Decimal("-inf"):
            raise lib.CostError(f"values: found {value!r} of {coalition!r}, expected a number, or minus infinity")
        rows[key] = str(amount)
    if missing not in (None, 0, float("-inf")):
        raise ValueError(f"missing: found {missing!r}, expected minus infinity or 0")
    n = n or most
    if n == 0:
        raise ValueError("values: found no coalition, expected some")
    text = np.frombuffer(json.dumps({"n": n, "values": rows}).encode(), np.uint8)

    if options.get("resume"):
        raise ValueError("resume: found True, expected None: listed coalitions have no checkpoint")
    given = encode(CSG, options, device=lib.device_name(device), missing="0" if missing == 0 else None, minimize=truth("minimize", minimize), blocks=_blocks(blocks),
                   together=_groups("together", together, n), separate=_groups("separate", separate, n), edges=_groups("edges", edges or (), n), sizes=_sizes(sizes), start=_start(start, n))

    def finish(report: dict[str, Any]) -> CoalitionsResult:
        found: Iterable[Iterable[int]] = report.pop("solution")
        return CoalitionsResult(report, [[agent - 1 for agent in block] for block in found], Decimal(report["certificate"]["sum"]))

    result: CoalitionsResult = begin_solve("csg", given, {"text": text}, finish, Told(progress, options.get("time_limit")), small=False)
    return result
