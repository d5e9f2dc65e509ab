"""Models of other packages against their own evaluation and exhaustion."""

import itertools

import dimod
import numpy as np
import pytest

import coalesce


def random_cqm(seed):
    rng = np.random.default_rng(seed)
    cqm = dimod.ConstrainedQuadraticModel()
    x = [dimod.Binary(f"x{i}") for i in range(4)] + [dimod.Spin(("s", 1)), dimod.Integer("n", lower_bound=-1, upper_bound=3)]
    cqm.set_objective(dimod.quicksum(int(rng.integers(-9, 10)) * a * b for a, b in itertools.combinations(x, 2)) + 2.5 - x[5] * x[5])
    cqm.add_constraint(x[0] + x[1] + x[2] == 1, label="one")
    cqm.add_constraint(dimod.quicksum(int(rng.integers(0, 5)) * a for a in x) + 1 <= 6, label="most")
    cqm.add_constraint(x[5] - x[3] >= -1, label=0)
    return cqm


@pytest.mark.parametrize("seed", range(10))
def test_cqm(seed):
    cqm = random_cqm(seed)
    best = dimod.ExactCQMSolver().sample_cqm(cqm).filter(lambda d: d.is_feasible).first.energy
    found = coalesce.Sampler().sample_cqm(cqm, seed=1, label="a name")
    assert found.first.is_feasible and found.first.energy == pytest.approx(best)
    assert found.info["proven"] and found.info["bound"] == pytest.approx(best)
    again = coalesce.solve_model(cqm, start=found.first.sample, work=1)
    assert again.value == pytest.approx(best) and again.by_label == found.first.sample


def test_cqm_file(tmp_path):
    cqm = random_cqm(3)
    for compress in (False, True):
        path = tmp_path / "a.cqm"
        path.write_bytes(cqm.to_file(compress=compress).read())
        found = coalesce.commands.solve_model(str(path))
        assert found["format"] == "cqm" and float(found["value"]) == pytest.approx(coalesce.solve_model(cqm).value)


def test_refused():
    soft = dimod.ConstrainedQuadraticModel()
    x, y = dimod.Binaries("xy")
    soft.add_constraint(x + y <= 1, weight=2)
    product = dimod.ConstrainedQuadraticModel()
    product.add_constraint(x * y <= 0)
    real = dimod.ConstrainedQuadraticModel()
    real.set_objective(dimod.Real("r") + x)
    for cqm, words in ((soft, "soft"), (product, "product"), (real, "real")):
        with pytest.raises(ValueError, match=words):
            coalesce.Sampler().sample_cqm(cqm)
    never = dimod.ConstrainedQuadraticModel()
    never.add_constraint(x + y >= 3)
    with pytest.raises(coalesce.InfeasibleError):
        coalesce.Sampler().sample_cqm(never)
    with pytest.raises(TypeError, match="expected a Model"):
        coalesce.solve_model(5)


@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
def test_polynomials(vartype):
    rng = np.random.default_rng(5)
    poly = dimod.BinaryPolynomial({tuple(rng.choice(7, size=k, replace=False)): int(rng.integers(-9, 10)) for k in (0, 1, 2, 3, 3, 4, 4, 5)}, vartype)
    found = coalesce.Sampler().sample_poly(poly)
    assert found.first.energy == pytest.approx(dimod.ExactPolySolver().sample_poly(poly).first.energy) and found.info["proven"]
    assert coalesce.Sampler().sample_hubo({"ab": -1, "abc": 2}).first.energy == -1


def test_bqm():
    bqm = dimod.BQM({"a": 1, 2: -1.5}, {("a", 2): 2}, 0.25, "SPIN")
    result = coalesce.solve_model(bqm)
    assert result.value == pytest.approx(dimod.ExactSolver().sample(bqm).first.energy) and bqm.energy(result.by_label) == pytest.approx(result.value)


def test_pyqubo():
    pyqubo = pytest.importorskip("pyqubo")
    a, b, c = (pyqubo.Binary(x) for x in "abc")
    model = ((a + b + c - 2) ** 2 + a * b - 3 * c).compile()
    result = coalesce.solve_model(model)
    assert result.value == pytest.approx(-3) and model.decode_sample(result.by_label, vartype="BINARY").energy == pytest.approx(result.value)


def test_ommx():
    v1 = pytest.importorskip("ommx.v1")
    x = [v1.DecisionVariable.binary(i, name="x", subscripts=[i]) for i in range(3)]
    n = v1.DecisionVariable.integer(7, lower=0, upper=5, name="n")
    instance = v1.Instance.from_components(
        decision_variables=[*x, n], objective=2 * x[0] * x[1] + 3 * n - x[2], constraints=[x[0] + x[1] + n <= 4, x[1] + x[2] == 1], sense=v1.Instance.MAXIMIZE)
    result = coalesce.solve_model(instance)
    solution = instance.evaluate(result.by_label)
    assert result.value == 11 and result["n"] == 4 and solution.feasible and solution.objective == 11
