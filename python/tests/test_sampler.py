"""coalesce.Sampler against dimod's own tests."""

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
            assert len(found) <= reads and found.info["bound"] <= best + 1e-9
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
