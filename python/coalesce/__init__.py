"""Exact assignments, binary quadratic programs, coalition structures and auctions.

Every answer comes with its value, what is proven of it, and how it was found.
Modules are loaded with their first name, and the library with the first solve: a process that has only imported this
package may fork.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import commands, lapx
    from ._assignment import AssignmentResult, Points, RankedMatching, enqueue_linear_sum_assignment, linear_sum_assignment, solve_assignment
    from ._auction import AuctionResult, Payment, RankedAllocation, solve_auction
    from ._csg import CoalitionsResult, CSGResult, solve_coalitions, solve_csg
    from ._device import host_copies
    from ._library import (CancelledError, CheckError, CoalesceError, CostError, ForkedError, InfeasibleError, InternalError,
                           Interrupted, devices)
    from ._model import Model, ModelResult, solve_model
    from ._peers import assignment_to_indices, batch_linear_assignment, min_weight_full_bipartite_matching
    from ._progress import Incumbent
    from ._qubo import QUBOResult, Solution, solve_qubo
    from ._sampler import Sampler
    from ._transport import TransportResult, emd, emd2
    from ._tune import tune, use_tuning

    __version__: str

__all__ = [
    "AssignmentResult", "AuctionResult", "CSGResult", "CancelledError", "CheckError", "CoalesceError", "CoalitionsResult", "CostError", "ForkedError",
    "Incumbent", "InfeasibleError", "InternalError", "Interrupted", "Model", "ModelResult", "Payment", "Points", "QUBOResult", "RankedAllocation", "RankedMatching", "Sampler", "Solution",
    "TransportResult", "__version__", "assignment_to_indices", "batch_linear_assignment", "commands", "devices", "emd", "emd2",
    "enqueue_linear_sum_assignment", "host_copies", "lapx", "linear_sum_assignment", "min_weight_full_bipartite_matching", "solve_assignment",
    "solve_auction", "solve_coalitions", "solve_csg", "solve_model", "solve_qubo", "tune", "use_tuning",
]

_MODULES = {
    "_assignment": ("AssignmentResult", "Points", "RankedMatching", "enqueue_linear_sum_assignment", "linear_sum_assignment", "solve_assignment"),
    "_auction": ("AuctionResult", "Payment", "RankedAllocation", "solve_auction"),
    "_csg": ("CSGResult", "CoalitionsResult", "solve_coalitions", "solve_csg"),
    "_device": ("host_copies",),
    "_library": ("CancelledError", "CheckError", "CoalesceError", "CostError", "ForkedError", "InfeasibleError", "InternalError",
                 "Interrupted", "devices"),
    "_model": ("Model", "ModelResult", "solve_model"),
    "_peers": ("assignment_to_indices", "batch_linear_assignment", "min_weight_full_bipartite_matching"),
    "_progress": ("Incumbent",),
    "_qubo": ("QUBOResult", "Solution", "solve_qubo"),
    "_sampler": ("Sampler",),
    "_transport": ("TransportResult", "emd", "emd2"),
    "_tune": ("tune", "use_tuning"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def _found(name: str) -> Any:
    if name == "__version__":
        from importlib import metadata
        try:
            found: Any = metadata.version("coalesce-solver")
        except metadata.PackageNotFoundError:  # a folder that is not installed
            found = "0+unknown"
    elif name in ("commands", "lapx"):
        return importlib.import_module("." + name, __name__)
    elif name in _MODULE_OF:
        found = getattr(importlib.import_module("." + _MODULE_OF[name], __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


if not TYPE_CHECKING:  # checkers know the names that there are
    __getattr__ = _found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
