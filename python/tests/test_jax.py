"""Arrays of JAX in the host's memory, read where they are: python -m pytest python/tests/test_jax.py, where jax is installed."""

import numpy as np
import pytest
import scipy.optimize

import coalesce

jax = pytest.importorskip("jax")


@pytest.mark.parametrize("wide", [False, True])
def test_arrays_of_the_host(wide):
    jax.config.update("jax_enable_x64", wide)
    try:
        rng = np.random.default_rng(1)
        with jax.default_device(jax.devices("cpu")[0]):
            for dtype in ("f2", "f4", "f8", "i1", "i4", "i8", "u2", "u4", "?"):
                for shape in ((4, 4), (3, 7), (7, 3), (2, 5, 6), (0, 3)):
                    x = jax.numpy.asarray((rng.random(shape) * 90).astype(dtype))
                    host = np.asarray(x)
                    before = host.copy()
                    r, c = coalesce.linear_sum_assignment(x)
                    for one, rows, cols in zip(host if host.ndim == 3 else [host], r if host.ndim == 3 else [r], c if host.ndim == 3 else [c]):
                        want = one.astype(float)
                        assert want[rows, cols].sum() == pytest.approx(want[scipy.optimize.linear_sum_assignment(want)].sum())
                    assert (host == before).all()
            answer = coalesce.solve_assignment(jax.numpy.asarray(rng.random((30, 30))).T, maximize=True, device="host")
            assert answer.proven and answer.gap < 1e-9
            with pytest.raises(ValueError, match="invalid numeric entries"):
                coalesce.linear_sum_assignment(jax.numpy.full((2, 2), jax.numpy.nan))
            rows, cols = coalesce.linear_sum_assignment(jax.numpy.asarray([[4.0, 1.0], [2.0, 9.0]]), tensors=True)
            assert isinstance(cols, jax.Array) and rows.tolist() == [0, 1] and cols.tolist() == [1, 0]
    finally:
        jax.config.update("jax_enable_x64", False)


def test_tracers_are_refused():
    with pytest.raises(Exception, match="[Tt]race"):
        jax.jit(lambda x: coalesce.linear_sum_assignment(x)[1])(jax.numpy.eye(3))
