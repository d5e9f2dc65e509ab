"""Every option that Go declares is a keyword, and every command of the program a function."""

import inspect
import json

import numpy as np
import pytest

import coalesce
from coalesce import _options, commands

Q = np.array([[-3.0, 2, 0, 1], [0, -2, 2, 0], [0, 0, -4, 3], [0, 0, 0, -1]])
GAME = np.array([0.0, 3, 4, 9, 5, 7, 8, 14])
BIDS = [(5, "a"), (4, ("b",)), (8, ("a", "b")), (3, ("c",))]
BIDS = [(price, list(goods)) for price, goods in BIDS]
MODEL = "Maximize\n 3 a + 2 b\nSubject To\n one: a + b <= 1\nBinaries\n a b\nEnd\n"

SOLVES = [
    (coalesce.solve_qubo, Q, _options.QUBO, dict(device="host")),
    (coalesce.solve_model, MODEL, _options.MODEL, dict(device="host")),
    (coalesce.solve_csg, GAME, _options.CSG, dict(device="host")),
    (coalesce.solve_assignment, [[4, 1, 3], [2, 0, 5], [3, 2, 2]], _options.ASSIGNMENT, dict(device="host")),
    (coalesce.solve_auction, BIDS, _options.AUCTION, dict(device="host")),
]


@pytest.mark.parametrize("solve, instance, options, own", SOLVES)
def test_documented(solve, instance, options, own):
    """Signature and docstring name every option."""
    names = inspect.signature(solve).parameters
    for name in options:
        assert name in names and f"{name}: " in solve.__doc__


@pytest.mark.parametrize("solve, instance, options, own", SOLVES)
def test_refused(solve, instance, options, own):
    """Values of another type and names that are not there are errors, and nothing is solved."""
    for name in options:
        with pytest.raises((TypeError, ValueError), match=name):
            solve(instance, **own, **{name: object()})
        solve(instance, **own, **{name: None})
    with pytest.raises(TypeError, match="time_limt"):
        solve(instance, **own, time_limt=1)
    for wrong in (dict(pin=["nothing"]), dict(pin=["none/none:x"]), dict(variant="x"), dict(tuned="/nowhere/at/all.json"), dict(threads=-1)):
        with pytest.raises(ValueError):
            solve(instance, **own, **wrong)


def test_qubo_options():
    """Options reach the search: the report names rules, parts and threads that it had."""
    options = dict(device="host", algorithm="host", unreduced=True, seed=7)
    r = np.random.default_rng(1)
    big = r.integers(-50, 50, (60, 60))
    found = coalesce.solve_qubo(big, work=20000, rules="tenure=7,stall=900", without=["anneal"], threads=1, **options)
    assert found.report["rules"] == "tenure=7,stall=900" and found.report["rules_used"]["host"].startswith("tenure=7,") and found.seed == 7
    assert found.report["work"]["flips"] >= 20000
    again = coalesce.solve_qubo(big, work=20000, rules="tenure=7,stall=900", without=["anneal"], threads=1, **options)
    assert np.array_equal(found.x, again.x)
    starts = coalesce.solve_qubo(big, device="host", algorithm="multistart", samples=20, iterations=9, batch=3, max_flips=5, screen="0.3", blend="none")
    assert "batch=3,samples=20,lambda=0.3,blend=none,iterations=9,max-flips=5" in starts.report["variant"]
    with pytest.raises(ValueError, match="blend: found 'worst', expected one of best, start, none"):
        coalesce.solve_qubo(big, blend="worst")
    with pytest.raises(ValueError, match="multistart"):
        coalesce.solve_qubo(big, algorithm="host", device="host", samples=20)


def test_pinned():
    """A pinned variant runs, and a frozen solve refuses a guess."""
    label = "k=8,r=2,unit=vector,value=int32"
    game = np.arange(1 << 10, dtype=np.int32) % 97
    game[0] = 0
    found = coalesce.solve_csg(game, device="host", algorithm="apart", threads=1, pin=["csg/hosttiles:" + label])
    assert label in found.report["variant"]


def test_start():
    """A solve begins with an earlier answer, or with one that is not good; a start of another instance is refused."""
    found = coalesce.solve_csg(GAME, device="host", start=[[0], [1], [2]])
    assert found.proven and found.value == 14
    met = coalesce.solve_csg(GAME, device="host", start=found.structure, target=14)
    assert met.value == 14 and not met.interrupted
    for wrong in ([[0, 1]], [[0, 1], [1, 2]], [[0, 1, 3]], ["ab"], 3):
        with pytest.raises((TypeError, ValueError), match="start"):
            coalesce.solve_csg(GAME, device="host", start=wrong)
    for algorithm in (None, "branch"):
        sold = coalesce.solve_auction(BIDS, device="host", algorithm=algorithm, start=[2])
        assert sold.proven and sold.winners == [0, 1, 3]
    assert coalesce.solve_auction(BIDS, device="host", start=[2], target=8, algorithm="branch").revenue >= 8
    for wrong in ([0, 2], [4], [0.5], "0"):
        with pytest.raises((TypeError, ValueError), match="start"):
            coalesce.solve_auction(BIDS, device="host", algorithm="branch", start=wrong)


def test_proof(tmp_path):
    """An auction's proof is in the report, and the command checks it."""
    r = np.random.default_rng(3)
    bids = [(int(r.integers(1, 99)), sorted(set(r.integers(0, 40, 3).tolist()))) for _ in range(120)]
    found = coalesce.solve_auction(bids, device="host", algorithm="branch", proof=True)
    assert found.proven and found.report["proof"]


def test_commands(tmp_path):
    """Files are drawn, solved, converted, asked and verified; what a check refutes is an error with a report."""
    costs, answer, game = tmp_path / "costs.npy", tmp_path / "answer.json", tmp_path / "game.npy"
    commands.generate_assignment(kind="uniform", rows=20, seed=3, output=costs)
    found = commands.solve_assignment(costs, device="host")
    assert found["value"] == np.load(costs)[np.arange(20), found["solution"]].sum() and found["proven"]
    answer.write_text(json.dumps(found))
    assert commands.verify(answer, costs)["proven"]
    found["solution"][0], found["solution"][1] = found["solution"][1], found["solution"][0]
    answer.write_text(json.dumps(found))
    with pytest.raises(coalesce.CheckError) as caught:
        commands.verify(answer, costs)
    assert caught.value.report["failures"]
    several = commands.solve_assignment(costs, costs, device="host")
    assert len(several) == 2

    np.save(game, GAME)
    kept = tmp_path / "values.npy"
    best = commands.solve_csg(game, device="host", values=kept)
    assert best["value"] == 14 and [s["value"] for s in commands.query_csg(game, kept, best=2)["structures"]][0] == 14
    graph = tmp_path / "cut.rud"
    graph.write_text("3 2\n1 2 5\n2 3 -4\n")
    assert commands.solve_csg(graph, device="host")["value"] == 5
    fixed = commands.solve_qubo(graph, device="host", form="maxcut", fix=["0=1"])
    assert fixed["solution"][0] == "1"
    arrays = coalesce.solve_qubo({(0, 0): -3, (1, 1): -2, (0, 1): 4}, device="host", fix=["0=0"], start="01")
    assert arrays.value == -2
    commands.convert(graph, output=tmp_path / "cut.coo")
    assert (tmp_path / "cut.coo").exists()
    assert commands.explain_assignment(device="host", size=100)
    assert any(d["kind"] == "host" for d in commands.devices())

    with pytest.raises(ValueError, match="--rows is 0"):
        commands.generate_assignment(kind="uniform", rows=0, output=tmp_path / "none.npy")
    with pytest.raises(TypeError, match="row"):
        commands.generate_assignment(kind="uniform", row=3)
    with pytest.raises(coalesce.CoalesceError, match="no such file"):
        commands.solve_qubo(tmp_path / "none.qubo")
    np.save(game, np.full((2, 2), np.inf))
    with pytest.raises(coalesce.InfeasibleError) as caught:
        commands.solve_assignment(game, device="host")
    assert caught.value.report["value"] is None
