"""Arrays of other packages in the host's memory, other types of numbers, and what every result documents."""

import inspect

import numpy as np
import pytest

import coalesce

BASE = np.random.default_rng(0).integers(0, 9, (5, 6))
BEST = BASE[coalesce.linear_sum_assignment(BASE)].sum()


class Spoken:
    """An array that speaks DLPack alone."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **options):
        return self.a.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_dlpack_alone():
    for kind in (np.float64, np.float32, np.int64, np.int8):
        a = Spoken(BASE.astype(kind))
        assert BASE[coalesce.linear_sum_assignment(a)].sum() == coalesce.solve_assignment(a).value == BEST


def test_objects():
    assert BASE[coalesce.linear_sum_assignment(BASE.astype(object))].sum() == BEST
    assert coalesce.solve_assignment([[2**70, 1], [1, 2**70]]).value == 2
    close = [[2**60 + 1, 2**60], [2**60, 2**60 + 2]]  # float64 would not tell them apart
    assert coalesce.linear_sum_assignment(np.array(close, object))[1].tolist() == [1, 0]
    for wrong in ([[None, 1], [1, 2]], [["a", 1], [1, 2]], [[1j, 1], [1, 2]]):
        with pytest.raises((TypeError, ValueError)):
            coalesce.linear_sum_assignment(np.array(wrong, object))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BASE).astype("Int64")
    assert BASE[coalesce.linear_sum_assignment(frame)].sum() == BEST
    frame.iloc[0, 0] = pandas.NA
    with pytest.raises((TypeError, ValueError)):
        coalesce.linear_sum_assignment(frame)


def test_small_floats():
    types = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e5m2", "int4"):
        a = (BASE % 8).astype(getattr(types, name))
        assert coalesce.solve_assignment(a).value == coalesce.solve_assignment(a.astype(np.float64)).value


def test_torch():
    torch = pytest.importorskip("torch")
    for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8):
        t = torch.tensor(BASE).to(kind)
        rows, cols = coalesce.linear_sum_assignment(t, tensors=True)
        assert rows.dtype == cols.dtype == torch.int64 and t.double()[rows, cols].sum() == BEST
    batch = torch.stack([t, t])
    matching = coalesce.batch_linear_assignment(batch)
    assert matching.shape == (2, 5) and torch.equal(coalesce.assignment_to_indices(matching)[1][0], cols)


def test_every_property_is_documented():
    for kind in (coalesce.AssignmentResult, coalesce.AuctionResult, coalesce.CSGResult, coalesce.QUBOResult, coalesce.Sampler):
        for name, member in inspect.getmembers(kind):
            if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"
    assert coalesce.__version__.partition("+")[0].count(".") == 2 or coalesce.__version__ == "0+unknown"
