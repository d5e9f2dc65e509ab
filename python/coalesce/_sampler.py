"""A sampler for dimod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as lib
from ._arguments import whole
from ._options import QUBO
from ._qubo import solve_entries

if TYPE_CHECKING:
    _Base: Any = object
else:
    try:
        from dimod import Sampler as _Base
    except ImportError:
        _Base = object


class Sampler(_Base):  # type: ignore[misc]
    """A dimod.Sampler of binary quadratic models, by the search of solve_qubo. Needs dimod.

    sample(bqm, num_reads=1, seed=None, **parameters): at most num_reads distinct samples, best first. Parameters are the
    options of solve_qubo but for solutions. info of the sample set: timing, bound, gap, proven, seed, device, reason.
    """

    def __init__(self) -> None:
        if _Base is object:
            raise ImportError("coalesce.Sampler needs dimod: pip install dimod")

    @property
    def properties(self) -> dict[str, Any]:
        return {}

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: [] for name in ("num_reads", "device", "progress", *QUBO) if name != "solutions"}

    def sample(self, bqm: Any, **parameters: Any) -> Any:
        """Samples of a binary quadratic model: a dimod.SampleSet."""
        import dimod

        sample_set: Any = dimod.SampleSet
        parameters = self.remove_unknown_kwargs(**parameters)
        seed = parameters.get("seed")
        seed = int(np.random.default_rng().integers(1 << 32)) if seed is None else whole("seed", seed, 0, 2**64 - 1)
        reads = parameters.pop("num_reads", None)
        reads = 1 if reads is None else whole("num_reads", reads, 1, lib.MOST)
        labels = list(bqm.variables)
        linear, (i, j, quadratic), _ = bqm.to_numpy_vectors(variable_order=labels)
        diagonal = np.arange(len(labels), dtype=np.int32)
        result = solve_entries(
            len(labels), np.concatenate([diagonal, i]), np.concatenate([diagonal, j]), np.concatenate([linear, quadratic]), labels,
            ising=bqm.vartype is dimod.SPIN, seed=seed, solutions=reads if reads > 1 else None,
            **{name: value for name, value in parameters.items() if name != "seed" and value is not None})
        found = [s.x for s in result.solutions] or [result.x]
        offset = float(bqm.offset)
        info = {"timing": result.seconds, "bound": None if result.bound is None else result.bound + offset, "gap": result.gap,
                "proven": result.proven, "seed": seed, "device": result.device, "reason": result.reason}
        return sample_set.from_samples_bqm((np.array(found), labels), bqm, info=info)
