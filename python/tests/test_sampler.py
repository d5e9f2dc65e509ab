"""coalesce.Sampler against dimod's own tests."""

import time
import unittest

import dimod
import dimod.testing
import numpy as np
import pytest

import coalesce


@dimod.testing.load_sampler_bqm_tests(coalesce.Sampler)
class TestSampler(unittest.TestCase):
    pass


def test_api():
    dimod.testing.assert_sampler_api(coalesce.Sampler())


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_are_the_least(vartype):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q = rng.integers(-9, 10, (8, 8))  # integers: their sums are exact, and so the answer proven
        bqm = dimod.BinaryQuadraticModel({i: int(q[i, i]) for i in range(8)}, {(i, j): int(q[i, j]) for i in range(8) for j in range(i)}, 2.5, vartype)
        best = dimod.ExactSolver().sample(bqm).first.energy
        for reads in (1, 3):
            found = coalesce.Sampler().sample(bqm, seed=seed, num_reads=reads)
            dimod.testing.assert_response_energies(found, bqm)
            assert found.first.energy == pytest.approx(best) and found.info["seed"] == seed
            assert len(found) == reads and found.info["bound"] <= best + 1e-9
            if reads == 1:
                assert found.info["proven"] and found.info["bound"] == pytest.approx(best)


def test_ising_qubo_and_empty():
    assert coalesce.Sampler().sample_ising({"a": 1}, {("a", "b"): -1}).first.sample == {"a": -1, "b": -1}
    assert coalesce.Sampler().sample_qubo({(0, 0): -1, (0, 1): 2}).first.energy == -1
    for vartype in ("BINARY", "SPIN"):
        none = coalesce.Sampler().sample(dimod.BinaryQuadraticModel({}, {}, 2.5, vartype))
        assert none.first.energy == none.info["bound"] == 2.5 and none.info["proven"] and not none.variables


def test_arguments():
    bqm = dimod.BQM.from_ising({}, {"ab": 1})
    for options in (dict(num_reads=0), dict(num_reads=-5), dict(num_reads=2.9), dict(num_reads="3"), dict(seed=-1), dict(seed=2**64 + 3), dict(seed=1.7), dict(distance=-3),
                    dict(work=-5), dict(target=float("nan")), dict(device=[]), dict(time_limit=True)):
        with pytest.raises((ValueError, TypeError)):
            coalesce.Sampler().sample(bqm, **options)
    sampled = coalesce.Sampler().sample(bqm, seed=2**64 - 1)
    assert sampled.info["seed"] == 2**64 - 1


def test_reads():
    """As many rows as were asked for, the best first, more than there are solutions too."""
    bqm = dimod.BQM.from_ising({"a": 1}, {"ab": 1})
    found = coalesce.Sampler().sample(bqm, num_reads=57, seed=1)
    energies = found.record.energy
    assert len(found) == 57 and found.record.num_occurrences.sum() == 57 and energies[0] == energies.min()
    assert len({tuple(x) for x in found.record.sample}) == 4


def test_small_models_end_when_they_are_proven():
    """With many reads too, and with a time limit that they do not need."""
    rng = np.random.default_rng(6)
    q = np.triu(rng.normal(size=(30, 30)))
    dense = dimod.BinaryQuadraticModel({i: float(q[i, i]) for i in range(30)}, {(i, j): float(q[i, j]) for i in range(30) for j in range(i + 1, 30)}, 0.5, "BINARY")
    for bqm in (dense, dimod.generators.gnm_random_bqm(30, 120, "SPIN", random_state=1)):
        best = coalesce.Sampler().sample(bqm, seed=1)
        for options in (dict(num_reads=20), dict(num_reads=20, timeout=60_000)):
            began = time.process_time()
            found = coalesce.Sampler().sample(bqm, seed=1, **options)
            assert time.process_time() - began < 2
            assert best.info["proven"] and found.info["proven"] and len(found) == 20 and found.first.energy == best.first.energy
            assert len({tuple(x) for x in found.record.sample}) > 1 and (np.diff(found.record.energy) >= 0).all()
            dimod.testing.assert_response_energies(found, bqm)


def test_initial_states():
    rng = np.random.default_rng(3)
    q = np.triu(rng.integers(-50, 51, (200, 200)))
    bqm = dimod.BQM.from_qubo({(i, j): int(q[i, j]) for i in range(200) for j in range(i, 200)})
    best = coalesce.Sampler().sample(bqm, time_limit=0.5, seed=1)
    found = coalesce.Sampler().sample(bqm, initial_states=best, work=1, seed=2)
    assert found.first.energy <= best.first.energy
    spins = dimod.BQM.from_ising({"a": 1.5}, {"ab": 1})
    assert coalesce.Sampler().sample(spins, initial_states={"a": 1, "b": -1}).first.energy == -2.5
    for wrong in ({"a": 1}, {"a": 0, "b": 1}):
        with pytest.raises(ValueError, match="initial_states"):
            coalesce.Sampler().sample(spins, initial_states=wrong)


def test_ends():
    rng = np.random.default_rng(4)
    q = np.triu(rng.integers(-50, 51, (300, 300)))
    bqm = dimod.BQM.from_qubo({(i, j): int(q[i, j]) for i in range(300) for j in range(i, 300)}, 7.0)
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        return len(asked) > 3

    began = time.monotonic()
    found = coalesce.Sampler().sample(bqm, interrupt_function=interrupt, time_limit=60)
    assert found.info["interrupted"] and 4 <= len(asked) <= 5 and time.monotonic() - began < 20
    began = time.monotonic()
    best = coalesce.Sampler().sample(bqm, timeout=300).first.energy
    assert time.monotonic() - began < 8
    began = time.monotonic()
    assert coalesce.Sampler().sample(bqm, energy_threshold=best * 0.9, time_limit=60).first.energy <= best * 0.9 and time.monotonic() - began < 20
    for wrong in (dict(timeout=-1), dict(timeout=5, time_limit=1), dict(interrupt_function=3), dict(energy_threshold=1, target=1)):
        with pytest.raises((ValueError, TypeError)):
            coalesce.Sampler().sample(bqm, **wrong)


def test_a_failing_interrupt_function():
    signs = np.random.default_rng(5).choice((-1, 1), (60, 60))
    bqm = dimod.BQM.from_ising({}, {(i, j): int(signs[i, j]) for i in range(60) for j in range(i)})
    with pytest.raises(ZeroDivisionError):
        coalesce.Sampler().sample(bqm, interrupt_function=lambda: 1 / 0, time_limit=30)
