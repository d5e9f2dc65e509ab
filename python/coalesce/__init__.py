"""Exact assignments, binary quadratic programs, coalition structures and auctions.

Every answer comes with its value, what is proven of it, and how it was found.
"""

from . import commands
from ._assignment import AssignmentResult, Points, RankedMatching, linear_sum_assignment, solve_assignment
from ._auction import AuctionResult, Payment, solve_auction
from ._csg import CSGResult, solve_csg
from ._device import host_copies
from ._library import (CancelledError, CheckError, CoalesceError, CostError, ForkedError, InfeasibleError, InternalError,
                       Interrupted, devices)
from ._progress import Incumbent
from ._qubo import QUBOResult, Solution, solve_qubo
from ._sampler import Sampler
from ._tune import tune, use_tuning

__all__ = [
    "AssignmentResult", "AuctionResult", "CSGResult", "CancelledError", "CheckError", "CoalesceError", "CostError", "ForkedError",
    "Incumbent", "InfeasibleError", "InternalError", "Interrupted", "Payment", "Points", "QUBOResult", "RankedMatching", "Sampler", "Solution",
    "commands", "devices", "host_copies", "linear_sum_assignment", "solve_assignment", "solve_auction", "solve_csg", "solve_qubo",
    "tune", "use_tuning",
]
