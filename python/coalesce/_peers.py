"""Functions with the names and signatures of other packages: SciPy's of sparse matrices, and torch-linear-assignment's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _device
from . import _library as lib
from ._assignment import linear_sum_assignment, solve_assignment


def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The matching of the least weight that matches all of the shorter side: scipy.sparse.csgraph's function of that name.

    biadjacency: a matrix or an array of scipy.sparse; its stored entries but zeros are the edges. A warning says where
    zeros were left out, as SciPy's does; solve_assignment takes them for edges.
    Returns row indices, ascending, and their columns.
    Raises TypeError of anything else, ValueError of an entry that is no number and where no full matching exists.
    """
    if getattr(biadjacency, "format", None) not in ("csr", "csc", "coo"):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    edges = biadjacency.tocsr()
    if edges.dtype.kind not in "biuf":
        raise ValueError("Data type for biadjacency must be numeric")
    if not (edges.data != 0).all():
        warnings.warn("explicit zero weights are removed before matching", UserWarning, stacklevel=2)
        edges = edges.copy()
        edges.eliminate_zeros()
    if 0 in edges.shape:
        return np.array([], np.intp), np.array([], np.intp)
    try:
        found = solve_assignment(edges, maximize, duals=False, device="host")
    except lib.InfeasibleError as e:
        same = lib.InfeasibleError("no full matching exists")
        same.report = e.report
        raise same from None
    return found.row_ind, found.col_ind


def batch_linear_assignment(cost: Any) -> Any:
    """The column of each row of the matrices of a batch: torch-linear-assignment's function of that name.

    cost: a tensor of torch (B, W, T) on a GPU or on the host. Costs are minimised. Among equal matchings it gives SciPy's, as that
    function does; not of matrices on a GPU with a side beyond 2048.
    Returns an int64 tensor (B, W) on the same device, -1 where a row is not matched.
    """
    import torch

    if not isinstance(cost, torch.Tensor):
        raise TypeError(f"cost: found {type(cost).__name__}, expected a tensor of torch; linear_sum_assignment takes arrays of other kinds")
    if cost.ndim != 3:
        raise ValueError("Need 3-dimensional tensor with shape (B, W, T).")
    if 0 not in cost.shape:
        cost = cost.detach()
        if cost.is_cuda:
            done = _device.solve_in_place(cost, lib.SCIPY_TIES, pairs=False)
            if done is not None and done[0] == lib.OK:
                return done[1][0]
        rows, cols = linear_sum_assignment(cost, tensors=True, ties="any" if cost.is_cuda else "scipy")  # which has the words for errors
        return torch.full(cost.shape[:2], -1, dtype=torch.long, device=cost.device).scatter_(1, rows, cols)
    return torch.full(cost.shape[:2], -1, dtype=torch.long, device=cost.device)


def assignment_to_indices(assignment: Any) -> tuple[Any, Any]:
    """The matched rows and their columns, tensors (B, K), of what batch_linear_assignment gave.

    Raises ValueError where the matrices of the batch have different numbers of matched rows.
    """
    import torch

    if not isinstance(assignment, torch.Tensor) or assignment.ndim != 2:
        raise TypeError(f"assignment: found {f'a tensor of {assignment.ndim} dimensions' if isinstance(assignment, torch.Tensor) else type(assignment).__name__}, "
                        "expected a tensor of torch (B, W)")
    count = assignment.shape[0]
    if count == 0:
        none = torch.zeros(0, 0, dtype=torch.long, device=assignment.device)
        return none, none
    matched = assignment >= 0
    sizes = matched.sum(1)
    if bool((sizes != sizes[0]).any()):
        raise ValueError("Inconsistent matching sizes.")
    return matched.nonzero()[:, 1].reshape(count, -1), assignment[matched].reshape(count, -1)
