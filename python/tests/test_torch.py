"""Tensors of torch on the host: torch-linear-assignment's names, gradients of optimal transport, and answers that are tensors.

torch-linear-assignment's source package has no tests. TestAssignment and test_compare_to_scipy are those of its repository
(tests/test_assignment.py and tests/test_to_indices.py of version 0.0.6, Apache-2.0), on our functions and without a print; the other tests
hold ours to what version 0.1.0 does on the host: SciPy's function, matrix by matrix.
"""

from unittest import TestCase

import numpy as np
import pytest
import scipy.optimize

import coalesce
from coalesce import assignment_to_indices, batch_linear_assignment

torch = pytest.importorskip("torch")


class TestAssignment(TestCase):
    def setUp(self):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"

    def test_simple(self):
        cost = torch.tensor([
            8, 4, 7,
            5, 2, 3,
            9, 6, 7,
            9, 4, 8
        ]).reshape(1, 4, 3).to(self.device)
        gt_assignment = torch.tensor(
            [0, 2, -1, 1]
        ).reshape(1, 4)
        result = batch_linear_assignment(cost).cpu()
        self.assertTrue((result == gt_assignment).all())

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA is not available")
    def test_cuda_equal_to_cpu(self):
        for bs, rows, cols in [(16, 20, 40), (1, 30, 10), (0, 5, 5)]:
            cost = torch.randint(-10, 10, (bs, rows, cols))
            matching_cpu = batch_linear_assignment(cost)
            matching_gpu = batch_linear_assignment(cost.to(self.device)).cpu()
            self.assertEqual(matching_cpu.shape, matching_gpu.shape)
            self.assertEqual(matching_cpu.dtype, matching_gpu.dtype)
            self.assertTrue((matching_cpu == matching_gpu).all())


def test_compare_to_scipy():
    for shape in [(0, 10, 10), (1, 20, 100), (1, 100, 20), (5, 20, 100), (5, 100, 20)]:
        cost = torch.randn(*shape)
        assignment = batch_linear_assignment(cost)
        row_ind, col_ind = assignment_to_indices(assignment)
        if shape[0] == 0:
            assert row_ind.shape == col_ind.shape == (0, 0)
            continue
        for k, c in enumerate(cost.numpy()):
            gt_row_ind, gt_col_ind = scipy.optimize.linear_sum_assignment(c)
            assert row_ind.shape[1:] == gt_row_ind.shape and col_ind.shape[1:] == gt_col_ind.shape
            assert (row_ind[k].numpy() == gt_row_ind).all() and (col_ind[k].numpy() == gt_col_ind).all()


def theirs(cost):
    """batch_linear_assignment_cpu of torch-linear-assignment."""
    matching = torch.full(cost.shape[:2], -1, dtype=torch.long)
    for k in range(len(cost)):
        rows, cols = scipy.optimize.linear_sum_assignment(cost[k].float().numpy())
        matching[k].scatter_(0, torch.from_numpy(rows), torch.from_numpy(cols))
    return matching


def test_equal_matchings():
    """Where several are optimal, the one of that package: what test_cuda_equal_to_cpu wants of two devices."""
    torch.manual_seed(3)
    for rows, cols in ((1, 1), (20, 40), (30, 10), (7, 7), (70, 70), (4, 0), (0, 4)):
        for kind in (torch.int64, torch.int8, torch.float32, torch.float64, torch.float16, torch.bfloat16):
            cost = torch.randint(-3, 3, (4, rows, cols)).to(kind)
            found = batch_linear_assignment(cost)
            assert found.dtype == torch.long and torch.equal(found, theirs(cost)), (rows, cols, kind)
            turned = batch_linear_assignment(cost.transpose(1, 2))  # strides
            assert torch.equal(turned, theirs(cost.transpose(1, 2)))


def test_errors():
    for wrong in (torch.zeros(2, 2), torch.zeros(1, 2, 2, 2)):
        with pytest.raises(ValueError, match="3-dimensional"):
            batch_linear_assignment(wrong)
    nothing = torch.full((1, 2, 2), float("inf"))
    for wrong, word in ((nothing, "infeasible"), (-nothing, "invalid numeric"), (nothing * 0, "invalid numeric")):
        with pytest.raises(ValueError, match=word):
            batch_linear_assignment(wrong)
    with pytest.raises(ValueError, match="Inconsistent"):
        assignment_to_indices(torch.tensor([[0, -1], [0, 1]]))


def test_not_tensors():
    for given in (np.zeros((1, 2, 2)), [[[1.0]]], None):
        with pytest.raises(TypeError, match="cost: found .*expected a tensor"):
            coalesce.batch_linear_assignment(given)
        with pytest.raises(TypeError, match="assignment: found .*expected a tensor"):
            coalesce.assignment_to_indices(given)


def test_emd2_of_types():
    m = torch.arange(12).reshape(3, 4)
    for given in (m, m.double(), m.bool(), m.half(), m.bfloat16(), m.double().requires_grad_()):
        assert float(coalesce.emd2([], [], given)) == pytest.approx(float(coalesce.emd2([], [], given.detach().double().numpy())), rel=1e-2)


def test_tensors_on_the_host():
    torch.manual_seed(4)
    for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool):
        for shape in ((5, 6), (6, 5), (3, 4, 7), (3, 7, 4), (2, 70, 70)):
            t = torch.randint(0, 9, shape).to(kind)
            for x in (t, t.transpose(-1, -2), t.flip(-1)[..., ::2], t.clone().requires_grad_(t.is_floating_point())):
                for maximize in (False, True):
                    rows, cols = coalesce.linear_sum_assignment(x, maximize, tensors=True)
                    plain = x.detach().double()
                    assert type(rows) is type(cols) is torch.Tensor and rows.dtype == cols.dtype == torch.int64 and rows.device == cols.device == t.device
                    assert rows.shape == cols.shape == (*shape[:-2], min(plain.shape[-2:]))
                    for one, r, c in zip(plain.reshape(-1, *plain.shape[-2:]), rows.reshape(-1, rows.shape[-1]), cols.reshape(-1, cols.shape[-1])):
                        expected = scipy.optimize.linear_sum_assignment(one.numpy(), maximize)
                        assert one[r, c].sum() == one.numpy()[expected].sum()
                    exact = coalesce.linear_sum_assignment(x, maximize, tensors=True, ties="scipy")
                    assert type(exact[1]) is torch.Tensor and (plain.ndim == 3 or torch.equal(exact[1], torch.from_numpy(expected[1])))


def masses(rng, *shape):
    return torch.from_numpy(rng.dirichlet(np.ones(shape[-1]), shape[:-1])).requires_grad_()


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (1, 3), (3, 4, 5)])
def test_gradients_of_emd2(shape):
    """Of costs, and of masses along the directions that keep their sums, against differences of costs; batches too."""
    rng = np.random.default_rng(sum(shape))
    a, b = masses(rng, *shape[:-1]), masses(rng, *shape[:-2], shape[-1])
    M = torch.from_numpy(rng.random(shape)).requires_grad_()
    assert torch.autograd.gradcheck(lambda M: coalesce.emd2(a.detach(), b.detach(), M), (M,), atol=1e-6)

    def centred(x):  # a mass from x whose sum is kept
        return x - x.mean(-1, keepdim=True)

    zero = [torch.zeros_like(x, requires_grad=True) for x in (a, b)]
    assert torch.autograd.gradcheck(lambda x, y: coalesce.emd2(a.detach() + centred(x), b.detach() + centred(y), M.detach()), zero, atol=1e-6)
    weight = torch.from_numpy(rng.random(shape[:-2]))
    (coalesce.emd2(a, b, M) * weight).sum().backward()
    plan = torch.as_tensor(coalesce.emd(a, b, M))
    np.testing.assert_allclose(M.grad, weight[..., None, None] * plan.detach(), atol=1e-12)
    np.testing.assert_allclose(a.grad.sum(-1), 0, atol=1e-12)


def test_gradients_of_some():
    """Only of the arguments that are tensors and ask for them, and in the type of the first tensor."""
    rng = np.random.default_rng(1)
    a, b, M = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5)), rng.random((4, 5))
    expected = coalesce.emd2(a, b, M)
    t = torch.tensor(a, requires_grad=True)
    cost = coalesce.emd2(t, b, M)
    cost.backward()
    assert cost.dtype == torch.float64 and cost.item() == pytest.approx(expected) and t.grad.abs().sum() > 0
    single = torch.tensor(M, dtype=torch.float32, requires_grad=True)
    cost = coalesce.emd2(a, b, single)
    cost.backward()
    assert cost.dtype == single.grad.dtype == torch.float32 and cost.item() == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(single.grad, coalesce.emd(a, b, M), atol=1e-6)
    points = coalesce.Points(rng.random((4, 2)), rng.random((5, 2)))
    t = torch.tensor(a, requires_grad=True)
    coalesce.emd2(t, torch.tensor(b), points).backward()
    assert t.grad.shape == (4,)
    assert not coalesce.emd2(torch.tensor(a), b, M).requires_grad
