"""A sampler for dimod."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _library as lib
from ._arguments import real, whole
from ._model import solve_model
from ._options import QUBO
from ._qubo import QUBOResult, solve_entries

if TYPE_CHECKING:
    _Base: Any = object
else:
    try:
        import dimod

        class _Base(dimod.Sampler, dimod.PolySampler):
            pass
    except ImportError:
        _Base = object


# A program of at most so many variables is proven first, where that takes less than _PROOF seconds: the search for several solutions goes on to
# its limit. Then the others are looked for _REST seconds.
_FEW, _PROOF, _REST = 40, 4.0, 0.2


def _search(program: tuple[Any, ...], reads: int, given: dict[str, Any]) -> tuple[QUBOResult, NDArray[Any]]:
    """The result of a program of solve_entries with some options, and the samples that were found."""
    if reads == 1:
        result = solve_entries(*program, **given)
        return result, np.array([result.x])
    first, ended = None, False
    ask = given["ask"]

    def asked() -> bool:
        nonlocal ended
        ended = ended or bool(ask())
        return ended

    given = {**given, "ask": None if ask is None else asked}
    limit = given.get("time_limit")
    if program[0] <= _FEW and "work" not in given and "distance" not in given:
        first = solve_entries(*program, **{**given, "time_limit": _PROOF if limit is None else min(_PROOF, limit / 2)})
        if ended or given.get("target") is not None and first.value is not None and first.value <= given["target"]:
            return first, np.array([first.x])
        if first.proven:
            given = {**given, "time_limit": _REST if limit is None else min(_REST, limit / 2)}
    result = solve_entries(*program, solutions=reads, **given)
    samples = np.array([s.x for s in result.solutions] or [result.x])
    if first is None or not first.proven:
        return result, samples
    return first, np.concatenate([[first.x], samples[(samples != first.x).any(1)]])


class Sampler(_Base):  # type: ignore[misc]
    """A dimod.Sampler of binary quadratic models, by the search of solve_qubo, and of constrained models and polynomials, by that of
    solve_model. Needs dimod.

    sample(bqm, num_reads=1, seed=None, **parameters) gives num_reads samples, best first: the best distinct ones that were
    found, and the best again where there are fewer. Parameters are the options of solve_qubo but for solutions, and of
    D-Wave's samplers:
    initial_states: states that the samples must not be worse than: all that dimod.as_samples takes. One that is better
    than what was found is among the samples.
    timeout: milliseconds, as time_limit is seconds. energy_threshold: the search ends at this energy or a lower one.
    interrupt_function: called every 50 ms; the search ends with what it has found once that is true.
    info of the sample set: timing, bound, gap, proven, interrupted, seed, device, reason.
    """

    def __init__(self) -> None:
        if _Base is object:
            raise ImportError("coalesce.Sampler needs dimod: pip install dimod")

    @property
    def properties(self) -> dict[str, Any]:
        """Nothing: the sampler has no properties of its own."""
        return {}

    @property
    def parameters(self) -> dict[str, Any]:
        """The keywords of sample."""
        return {name: [] for name in ("num_reads", "device", "progress", "initial_states", "timeout", "energy_threshold", "interrupt_function", *QUBO)
                if name != "solutions"}

    def sample(self, bqm: Any, **parameters: Any) -> Any:
        """Samples of a binary quadratic model: a dimod.SampleSet."""
        import dimod

        sample_set: Any = dimod.SampleSet
        given = {name: value for name, value in self.remove_unknown_kwargs(**parameters).items() if value is not None}
        seed = int(np.random.default_rng().integers(1 << 32)) if "seed" not in given else whole("seed", given.pop("seed"), 0, 2**64 - 1)
        reads = whole("num_reads", given.pop("num_reads", 1), 1, lib.MOST)
        ask = given.pop("interrupt_function", None)
        if ask is not None and not callable(ask):
            raise TypeError(f"interrupt_function: found {ask!r}, expected a function")
        offset = float(bqm.offset)
        for name, other in (("timeout", "time_limit"), ("energy_threshold", "target")):
            if name in given:
                if other in given:
                    raise ValueError(f"{name}: found {other} too, expected one of them")
                found = real(name, given.pop(name))
                given[other] = found / 1000 if name == "timeout" else found - offset
        labels = list(bqm.variables)
        states = self._states(bqm, labels, given.pop("initial_states", None))
        linear, (i, j, quadratic), _ = bqm.to_numpy_vectors(variable_order=labels)
        diagonal = np.arange(len(labels), dtype=np.int32)
        program = len(labels), np.concatenate([diagonal, i]), np.concatenate([diagonal, j]), np.concatenate([linear, quadratic]), labels
        given.update(ising=bqm.vartype is dimod.SPIN, seed=seed, ask=ask)
        result, samples = _search(program, reads, given)
        value = math.inf if result.value is None else result.value + offset
        samples = np.concatenate([states[bqm.energies((states, labels)) < value], samples]) if len(states) else samples
        samples = samples[np.argsort(bqm.energies((samples, labels)), kind="stable")][:reads] if labels else samples[:reads]
        samples = np.concatenate([samples, np.repeat(samples[:1], reads - len(samples), axis=0)])
        info = {"timing": result.seconds, "bound": None if result.bound is None else result.bound + offset, "gap": result.gap,
                "proven": result.proven, "interrupted": result.interrupted, "seed": seed, "device": result.device, "reason": result.reason}
        return sample_set.from_samples_bqm((samples, labels), bqm, info=info)

    def sample_cqm(self, cqm: Any, *, label: Any = None, **options: Any) -> Any:
        """The best solution that is found of a constrained quadratic model, a dimod.SampleSet of one sample.

        options: those of solve_model. label: for D-Wave's samplers, unused. The sample breaks constraints where no feasible one was
        found in time: is_feasible of the sample set says so. Raises InfeasibleError where there is none.
        """
        import dimod

        sample_set: Any = dimod.SampleSet
        sample, info = self._solved(cqm, options)
        return sample_set.from_samples_cqm(sample, cqm, info=info)

    def sample_poly(self, poly: Any, **options: Any) -> Any:
        """The best solution that is found of a dimod.BinaryPolynomial, a dimod.SampleSet of one sample. options: those of solve_model."""
        import dimod

        sample_set: Any = dimod.SampleSet
        sample, info = self._solved(poly, options)
        return sample_set.from_samples(sample, energy=poly.energies(sample), vartype=poly.vartype, info=info)

    @staticmethod
    def _solved(model: Any, options: dict[str, Any]) -> tuple[dict[Any, int], dict[str, Any]]:
        """Values by label, and what a sample set's info says."""
        seed = int(np.random.default_rng().integers(1 << 32)) if options.get("seed") is None else options["seed"]
        result = solve_model(model, **{**options, "seed": seed})
        return result.by_label, {"timing": result.seconds, "bound": result.bound, "gap": result.gap, "proven": result.proven, "interrupted": result.interrupted,
                                 "seed": seed, "device": result.device}

    @staticmethod
    def _states(bqm: Any, labels: list[Any], states: Any) -> Any:
        """Initial states, one a row, in the order of labels and in the model's values."""
        import dimod

        if states is None:
            return np.empty((0, len(labels)), np.int8)
        if isinstance(states, dimod.SampleSet):
            known: Any = states
            states = known.change_vartype(bqm.vartype, inplace=False)
        values, names = dimod.as_samples(states)
        place = {name: k for k, name in enumerate(names)}
        missing = [label for label in labels if label not in place]
        if missing:
            raise ValueError(f"initial_states: found no value of {missing[0]!r}")
        found = np.asarray(values)[:, [place[label] for label in labels]]
        if not np.isin(found, tuple(bqm.vartype.value)).all():
            raise ValueError(f"initial_states: expected values of {sorted(bqm.vartype.value)}")
        return found.astype(np.int8)
