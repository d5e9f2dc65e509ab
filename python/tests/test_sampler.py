"""coalesce.Sampler against dimod's own tests."""

import dimod
import dimod.testing
import pytest

import coalesce


@dimod.testing.load_sampler_bqm_tests(coalesce.Sampler)
class TestSampler:
    def assertEqual(self, a, b, *message):
        assert a == b

    def assertGreater(self, a, b, *message):
        assert a > b

    class subTest:
        def __init__(self, *a, **k):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *a):
            return False


def test_api():
    dimod.testing.assert_sampler_api(coalesce.Sampler())


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_are_the_least(vartype):
    for seed in range(10):
        bqm = dimod.generators.gnp_random_bqm(8, 0.6, vartype, random_state=seed)
        bqm.offset = 2.5
        best = dimod.ExactSolver().sample(bqm).first.energy
        found = coalesce.Sampler().sample(bqm, seed=seed, num_reads=3)
        dimod.testing.assert_response_energies(found, bqm)
        assert found.first.energy == pytest.approx(best)
        assert found.info["proven"] and found.info["bound"] == pytest.approx(best) and found.info["seed"] == seed


def test_ising_qubo_and_empty():
    assert coalesce.Sampler().sample_ising({"a": 1}, {("a", "b"): -1}).first.sample == {"a": -1, "b": -1}
    assert coalesce.Sampler().sample_qubo({(0, 0): -1, (0, 1): 2}).first.energy == -1
    assert len(coalesce.Sampler().sample(dimod.BinaryQuadraticModel("BINARY"))) <= 1
