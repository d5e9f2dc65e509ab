"""Exact assignments, binary quadratic programs, coalition structures and auctions.

Every answer comes with its value, what is proven of it, and how it was found.
"""

from ._assignment import AssignmentResult, RankedMatching, linear_sum_assignment, solve_assignment
from ._auction import AuctionResult, solve_auction
from ._csg import CSGResult, solve_csg
from ._library import (CancelledError, CoalesceError, CostError, ForkedError, InfeasibleError, InternalError,
                       Interrupted, devices)
from ._qubo import Incumbent, QUBOResult, Solution, solve_qubo
from ._sampler import Sampler

__all__ = [
    "AssignmentResult", "AuctionResult", "CSGResult", "CancelledError", "CoalesceError", "CostError", "ForkedError",
    "Incumbent", "InfeasibleError", "InternalError", "Interrupted", "QUBOResult", "RankedMatching", "Sampler", "Solution",
    "devices", "linear_sum_assignment", "solve_assignment", "solve_auction", "solve_csg", "solve_qubo",
]
