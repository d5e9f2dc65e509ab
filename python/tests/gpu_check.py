"""The wheel on a machine with a GPU: python python/tests/gpu_check.py [CHECK...], beside an installed wheel that was built
with --cuda. CHECK: the name of one of the functions below, such as overhead; without, all.

Checks the four problems on cuda:0 against the host, 300 random matrices and batches from numpy, torch, CuPy and JAX
against SciPy, that no cost went through the host, streams and errors; then prints what calls take. Needs numpy and scipy;
torch, CuPy and JAX are checked where they can be imported, besides arrays of the driver's own memory. Exits 1 where an
answer is wrong, after all checks. Takes about half a minute (an H200).
"""

import ctypes
import os
import sys
import threading
import time
import traceback

import numpy as np
import scipy.optimize

import coalesce
from coalesce import _assignment, _device

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the memory
failures = []


def check(function):
    """Runs a check, prints how it went, and remembers where it failed."""
    began = time.perf_counter()
    try:
        said = function()
        print(f"ok    {function.__name__} ({time.perf_counter() - began:.2f} s){': ' + said if said else ''}", flush=True)
    except Exception:
        failures.append(function.__name__)
        print(f"WRONG {function.__name__}", flush=True)
        traceback.print_exc()


def package(name):
    """A package with a GPU, or None."""
    try:
        found = __import__(name)
        if name == "torch" and not found.cuda.is_available():
            return None
        if name == "cupy":
            found.zeros(1)
        if name == "jax":
            found.devices("gpu")
            found.config.update("jax_enable_x64", True)
        return found
    except Exception as e:
        print(f"      {name} is left out: {type(e).__name__}: {str(e)[:120]}")
        return None


class Raw:
    """An array in memory of the driver, with __cuda_array_interface__ alone."""

    driver = None

    def __init__(self, a):
        if Raw.driver is None:
            Raw.driver, Raw.context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
            Raw.call("cuInit", 0)
            Raw.call("cuDevicePrimaryCtxRetain", ctypes.byref(Raw.context), 0)
        self.host = np.ascontiguousarray(a)
        self.at = ctypes.c_uint64()
        Raw.call("cuCtxSetCurrent", Raw.context)
        Raw.call("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(max(64, self.host.nbytes)))
        if self.host.nbytes:
            Raw.call("cuMemcpyHtoD_v2", self.at, ctypes.c_void_p(self.host.ctypes.data), ctypes.c_size_t(self.host.nbytes))

    @staticmethod
    def call(name, *args):
        code = getattr(Raw.driver, name)(*args)
        if code:
            raise OSError(f"{name}: error {code} of the driver")

    def __del__(self):
        Raw.call("cuCtxSetCurrent", Raw.context)
        Raw.call("cuMemFree_v2", self.at)

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    __cuda_array_interface__ = property(lambda self: {"shape": self.host.shape, "typestr": self.host.dtype.str, "data": (self.at.value, False), "version": 3})

    def get(self):
        return self.host

    def astype(self, name):
        return Raw(self.host.astype(name))

    def swapaxes(self, x, y):
        return Raw(self.host.swapaxes(x, y))

    def __getitem__(self, k):
        return Raw(self.host[k])


torch, cupy, jax = package("torch"), package("cupy"), package("jax")
PACKAGES = [(name, put) for name, found, put in (
    ("torch", torch, lambda a: torch.from_numpy(a).cuda()), ("cupy", cupy, lambda a: cupy.asarray(a)),
    ("jax", jax, lambda a: jax.device_put(a, jax.devices("gpu")[0]))) if found is not None]
WITH_RAW = [*PACKAGES, ("the driver", Raw)]


def back(x):
    """An array of a package in the host's memory."""
    return x.cpu().numpy() if hasattr(x, "cpu") else x.get() if hasattr(x, "get") else np.asarray(x)


def total(a, pairs):
    return a[pairs].astype(np.float64).sum()


def devices():
    found = coalesce.devices()
    assert any(d["kind"] == "cuda" for d in found), f"no GPU: {found}"
    return ", ".join(f"{d['kind']}:{d['index']} {d['name']}" for d in found)


def four_problems():
    """Every problem on cuda:0 and on the host."""
    rng = np.random.default_rng(1)
    a = rng.random((700, 800))
    q = rng.integers(-20, 21, (24, 24))
    values = rng.integers(0, 1000, 1 << 14)
    bids = [(int(rng.integers(1, 100)), rng.choice(14, 3, replace=False).tolist()) for _ in range(60)]
    said = []
    for name, solve in (("assignment", lambda d: coalesce.solve_assignment(a, device=d)), ("qubo", lambda d: coalesce.solve_qubo(q, device=d, time_limit=5)),
                        ("csg", lambda d: coalesce.solve_csg(values, device=d)),
                        ("csg apart", lambda d: coalesce.solve_csg(values, device=d, algorithm="apart")),
                        ("auction", lambda d: coalesce.solve_auction(bids, device=d)),
                        ("points", lambda d: coalesce.solve_assignment(coalesce.Points(a[:, :2], a[:, 2:4]), device=d)),
                        ("start", lambda d: coalesce.solve_assignment(a, device=d, start=(np.zeros(700), np.zeros(800)))),
                        ("limit", lambda d: coalesce.solve_assignment(a, device=d, limit=0.001))):
        gpu, host = solve("cuda:0"), solve("host")
        assert gpu.value == host.value or abs(gpu.value - host.value) <= 1e-9 * abs(host.value), f"{name}: {gpu} beside {host}"
        assert gpu.proven == host.proven, f"{name}: {gpu} beside {host}"
        said.append(f"{name} on {gpu.device}")
    return ", ".join(said)


def matrices(count=300):
    rng = np.random.default_rng(2)
    for k in range(count):
        shape = tuple(rng.integers(1, 9, 2)) if k % 3 else tuple(rng.integers(1, 90, 2))
        if k % 50 == 0:
            shape = tuple(rng.integers(250, 700, 2))
        if k % 4 == 0:
            shape = (int(rng.integers(1, 5)), *shape)
        dtype = np.dtype(["f4", "f8", "i4", "i8", "i2", "u1", "f2", "i1"][k % 8])
        a = rng.random(shape) * (100 if dtype != np.int8 else 50)
        a = (a - (20 if dtype.kind != "u" else 0)).astype(dtype)
        if dtype.kind == "f" and k % 5 == 0 and a.ndim == 2:
            a[rng.random(shape) < 0.2] = np.inf
        yield a, bool(k % 2)


def random_matrices():
    """300 random matrices and batches, against SciPy; 60 of JAX, which compiles something for every shape."""
    solved = 0
    for k, (a, maximize) in enumerate(matrices()):
        a = -a if maximize and a.dtype.kind == "f" else a
        for name, put in [("numpy", None), *WITH_RAW]:
            if name == "jax" and k >= 60:
                continue
            before = coalesce.host_copies()
            where = f"{name} {a.dtype} {a.shape} maximize={maximize}"
            try:
                if put is None:
                    answer = coalesce.solve_assignment(a, maximize, device="cuda:0")
                    found = [(r.row_ind, r.col_ind) for r in answer] if a.ndim == 3 else [(answer.row_ind, answer.col_ind)]
                else:
                    r, c = coalesce.linear_sum_assignment(put(a), maximize)
                    found = list(zip(r, c)) if a.ndim == 3 else [(r, c)]
                    assert coalesce.host_copies() == before, f"{where}: went through the host"
            except ValueError as e:
                assert "infeasible" in str(e) or "matching" in str(e), f"{where}: {e!r}"
                try:
                    scipy.optimize.linear_sum_assignment(a, maximize)
                except ValueError:
                    continue
                raise AssertionError(f"{where}: {e!r}") from e
            for one, pairs in zip(a if a.ndim == 3 else [a], found):
                want = scipy.optimize.linear_sum_assignment(one, maximize)
                ours, theirs = total(one, pairs), total(one, want)
                assert len(pairs[0]) == min(one.shape) == len(set(pairs[1].tolist())), where
                assert abs(ours - theirs) <= 1e-9 * max(1, abs(theirs)), f"{where}: {ours}, SciPy {theirs}"
                solved += 1
    return f"{solved} matrices of numpy, {', '.join(name for name, _ in WITH_RAW)}"


def certificates():
    """Duals and certificates of costs on the GPU, held against the costs here."""
    rng = np.random.default_rng(3)
    for name, put in WITH_RAW:
        for shape in ((5, 5), (4, 30, 40), (40, 30), (300, 500), (500, 300), (1, 400, 300), (2, 300, 400)):
            for dtype in (np.float32, np.float64, np.int32, np.int64):
                for maximize in (False, True):
                    a = (rng.random(shape) * 1000 - 300).astype(dtype)
                    before = coalesce.host_copies()
                    answers = coalesce.solve_assignment(put(a), maximize)
                    assert coalesce.host_copies() == before
                    for one, r in zip(a if a.ndim == 3 else [a], answers if a.ndim == 3 else [answers]):
                        one = one.astype(np.float64)
                        slack = (one - r.u[:, None] - r.v[None, :]) * (-1 if maximize else 1)
                        assert r.proven and r.device == "cuda:0", repr(r)
                        assert slack.min() > -1e-6 and abs(slack[r.row_ind, r.col_ind]).max() < 1e-6
                        assert abs(total(one, (r.row_ind, r.col_ind)) - r.value) < 1e-6 and abs(r.u.sum() + r.v.sum() - r.value) < 1e-5
                        assert abs(r.value - total(one, scipy.optimize.linear_sum_assignment(one, maximize))) < 1e-6


def errors():
    """NaN, infeasible and complex costs on the GPU raise what they do on the host."""
    for name, put in WITH_RAW:
        for a, words in ((np.array([[np.nan, 1], [1, 1]]), "invalid"), (np.full((2, 2), np.inf), "infeasible"), (np.array([[-np.inf, 1], [1, 1]]), "invalid"),
                         (np.zeros(3), "matrix"), (np.zeros((2, 2, 2, 2)), "matrix")):
            try:
                coalesce.linear_sum_assignment(put(a))
                raise AssertionError(f"{name}: {a} has an answer")
            except ValueError as e:
                assert words in str(e), f"{name}: {e}"
        for shape in ((0, 3), (3, 0), (2, 0, 3)):
            r, c = coalesce.linear_sum_assignment(put(np.zeros(shape)))
            assert r.shape == c.shape == shape[:-2] + (0,)
        some = coalesce.solve_assignment(put(np.array([[[1.0]], [[np.inf]]])))
        assert [x.infeasible for x in some] == [False, True] and some[1].certificate["hall"]
        try:
            coalesce.solve_assignment(put(np.full((3, 3), np.inf)))
            raise AssertionError("an infeasible matrix has an answer")
        except coalesce.InfeasibleError as e:
            assert e.report[0]["certificate"]["hall"]


def layouts():
    """Transposed, strided and half-precision tensors, largest integers, tensors as answers."""
    rng = np.random.default_rng(4)
    for name, put in PACKAGES:
        big = put(rng.random((60, 90)).astype(np.float32))
        for x in (big.T, big[::2, 1::3], big[5:20], put(np.asfortranarray(rng.random((30, 30))))):
            host = back(x)
            before = coalesce.host_copies()
            pairs = coalesce.linear_sum_assignment(x)
            assert coalesce.host_copies() == before
            assert abs(total(host, pairs) - total(host, scipy.optimize.linear_sum_assignment(host))) < 1e-4
        most = put(np.array([[2 ** 31 - 1, 1], [2 ** 31 - 1, 2 ** 31 - 1]], np.int32))
        assert coalesce.linear_sum_assignment(most)[1].tolist() == [1, 0]
        r, c = coalesce.linear_sum_assignment(big, tensors=True)
        assert type(c) is type(big) and c.device == big.device and str(c.dtype).endswith("int64")
        assert float(big[r, c].sum()) > 0 and c.tolist() == coalesce.linear_sum_assignment(big)[1].tolist()


def interfaces():
    """An array that has __cuda_array_interface__ alone goes the same way."""
    for name, put in PACKAGES:
        x = put(np.random.default_rng(5).random((20, 20)))
        a, b = _device._by_dlpack(x), _device._by_interface(x)
        assert (a.address, a.device, a.dtype, a.shape, a.strides) == (b.address, b.device, b.dtype, b.shape, b.strides), (a, b)


def streams():
    """Costs that a stream is still computing are waited for."""
    if torch is None:
        return "left out"
    side = torch.cuda.Stream()
    rng = np.random.default_rng(6)
    for _ in range(20):
        host = rng.random((50, 50), np.float32)
        wrong = torch.zeros(50, 50, device="cuda")
        right = torch.from_numpy(host).cuda()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)  # some ten milliseconds
            wrong.copy_(right)
            pairs = coalesce.linear_sum_assignment(wrong)
        assert abs(total(host, pairs) - total(host, scipy.optimize.linear_sum_assignment(host))) < 1e-4


def threads():
    """Several threads at once, on one GPU."""
    put = WITH_RAW[0][1]
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(40):
            a = rng.random((int(rng.integers(1, 4)), 20, 25))
            r, c = coalesce.linear_sum_assignment(put(a))
            for k in range(len(a)):
                if abs(total(a[k], (r[k], c[k])) - total(a[k], scipy.optimize.linear_sum_assignment(a[k]))) > 1e-9:
                    wrong.append(seed)

    running = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for t in running:
        t.start()
    for t in running:
        t.join()
    assert not wrong


def memory():
    """3,000 calls hold no more memory of the GPU."""
    if torch is None:
        return "left out"
    xs = [torch.rand(n, n, device="cuda") for n in range(2, 40)]
    for x in xs:
        coalesce.linear_sum_assignment(x)
    before = torch.cuda.mem_get_info()[0]
    for k in range(3000):
        coalesce.linear_sum_assignment(xs[k % len(xs)])
    lost = before - torch.cuda.mem_get_info()[0]
    assert lost < 64 << 20, f"{lost} bytes"
    return f"{lost} bytes"


def best(call, rounds):
    call()
    call()
    took = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        took = min(took, time.perf_counter() - began)
    return took


def overhead():
    """What a call takes, in microseconds, the best of many: SciPy, ours on the host, and ours of arrays on the GPU."""
    names = ["SciPy", "host", "host, solve_assignment", *(f"{name} on the GPU" for name, _ in WITH_RAW), "numpy, device=cuda"]
    print("      n | " + " | ".join(names))
    for n in (3, 10, 30, 100, 300, 1000):
        a = np.random.default_rng(1).random((n, n))
        calls = [lambda: scipy.optimize.linear_sum_assignment(a), lambda: coalesce.linear_sum_assignment(a), lambda: coalesce.solve_assignment(a, device="host")]
        for _, put in WITH_RAW:
            x = put(a)
            calls.append(lambda x=x: coalesce.linear_sum_assignment(x))
        calls.append(lambda: coalesce.solve_assignment(a, device="cuda:0"))
        rounds = 2000 if n < 30 else 300 if n < 300 else 10
        print(f"      {n} | " + " | ".join(f"{1e6 * best(call, rounds):.1f}" for call in calls), flush=True)


def parts():
    """Where the time of a call for 3 x 3 costs goes, in microseconds, the best of many."""
    for name, put in WITH_RAW:
        x = put(np.random.default_rng(1).random((3, 3)))
        found = _device.resident(x)
        times = {"whole": best(lambda: coalesce.linear_sum_assignment(x), 2000), "view": best(lambda: _device.resident(x), 2000),
                 "library": best(lambda: _assignment._on_gpu.solve(found, False), 2000)}
        if name != "the driver":
            times["whole, tensors=True"] = best(lambda: coalesce.linear_sum_assignment(x, tensors=True), 500)
        print(f"      {name}: " + ", ".join(f"{part} {1e6 * t:.1f}" for part, t in times.items()), flush=True)


def batches():
    """Batches of tensors, in milliseconds, the best of many; SciPy solves one after the other."""
    if torch is None:
        return "left out"
    try:
        from torch_linear_assignment import batch_linear_assignment
    except Exception:
        batch_linear_assignment = None
    print("      batch | ours | ours, tensors=True | torch-linear-assignment | SciPy")
    for b, n in ((208, 300), (4096, 64), (1, 1000), (1, 3000)):
        x = torch.rand(b, n, n, device="cuda")
        torch.cuda.synchronize()

        def theirs():
            batch_linear_assignment(x)
            torch.cuda.synchronize()

        before = coalesce.host_copies()
        times = [best(lambda: coalesce.linear_sum_assignment(x), 10), best(lambda: coalesce.linear_sum_assignment(x, tensors=True), 10),
                 best(theirs, 5) if batch_linear_assignment and b > 1 else float("nan")]
        assert coalesce.host_copies() == before
        host = x.cpu().numpy()
        began = time.perf_counter()
        want = [total(one, scipy.optimize.linear_sum_assignment(one)) for one in host]
        took = time.perf_counter() - began
        r, c = coalesce.linear_sum_assignment(x)
        for k in range(b):
            assert abs(total(host[k], (r[k], c[k])) - want[k]) < 1e-4, k
        print(f"      {b} x ({n} x {n}) | " + " | ".join(f"{1e3 * t:.3f}" for t in [*times, took]), flush=True)


def squared(shape, clouds=0.0):
    """Squared distances of uniform points, or of two normal clouds so far apart, and random masses."""
    b, n, m = shape
    rng = np.random.default_rng(n)
    draw = (lambda size: rng.normal(size=size)) if clouds else rng.random
    x, y = draw((b, n, 2)), draw((b, m, 2)) + np.array([clouds, 0])
    costs = ((x[:, :, None] - y[:, None]) ** 2).sum(-1)
    p, q = rng.random((b, n)), rng.random((b, m))
    return p / p.sum(1, keepdims=True), q / q.sum(1, keepdims=True), costs


def transports():
    """Plans of optimal transport stay on the GPU, and cost what the host's cost."""
    counted = 0
    for home, put in ((torch, lambda x: torch.as_tensor(x, device="cuda")), (cupy, lambda x: cupy.asarray(x))):
        if home is None:
            continue
        before = coalesce.host_copies()
        rng = np.random.default_rng(7)
        for k in range(60):
            b, n, m = (int(x) for x in rng.integers(1, 40, 3))
            a, q, costs = squared((b, n, m), 3.0 * (k % 2))
            if k % 3 == 1:
                costs = np.floor(9 * costs)  # ties
            if k % 4 == 2:
                costs = costs.astype(np.float32)
            if k % 5 == 4:
                a, q = np.full((b, n), 1.0 / n), np.full((b, m), 1.0 / m)
            x = put(costs)
            plan, log = coalesce.emd(put(a), q, x, log=True)
            assert type(plan) is type(x) and plan.dtype == x.dtype and plan.shape == x.shape, k
            host, found = np.asarray(_device.fetched(plan), float), np.asarray(_device.fetched(log["cost"]), float)
            u, v = (np.asarray(_device.fetched(log[name]), float) for name in "uv")
            loose = 1e-4 if costs.dtype == np.float32 else 1e-9
            assert np.allclose(host.sum(2), a, atol=loose) and np.allclose(host.sum(1), q, atol=loose), k
            assert (costs - u[:, :, None] - v[:, None, :]).min() > -1e-3 * loose * max(1, costs.max()) - loose, k
            want = coalesce.emd2(a, q, costs.astype(float))
            assert np.allclose(found, want, rtol=1e-5 if loose > 1e-6 else 1e-11), (k, found, want)
            counted += b
        one = coalesce.emd(put(a[0]), put(q[0]), put(costs[0]))
        assert np.allclose(_device.fetched(one), coalesce.emd(a[0], q[0], costs[0].astype(float)), atol=1e-5)
        assert coalesce.host_copies() == before
    if torch is not None:
        a, q, costs = (torch.as_tensor(x[0], device="cuda").requires_grad_() for x in squared((1, 30, 20)))
        coalesce.emd2(a, q, costs).backward()
        plan, log = coalesce.emd(a, q, costs, log=True)
        assert torch.allclose(costs.grad, plan) and torch.allclose(a.grad, log["u"] - log["u"].mean())
        for bad in (-1.0, float("nan")):
            a = torch.full((2,), bad, device="cuda", dtype=torch.float64)
            try:
                coalesce.emd(a, a, torch.ones(2, 2, device="cuda"))
                raise AssertionError("masses that cannot be solved with were taken")
            except ValueError:
                pass
    return f"{counted} problems"


def main():
    print(f"coalesce {coalesce.__file__}, numpy {np.__version__}, scipy {scipy.__version__}",
          *(f", {x.__name__} {x.__version__}" for x in (torch, cupy, jax) if x is not None))
    functions = (devices, four_problems, random_matrices, certificates, errors, layouts, interfaces, streams, threads, memory, overhead, parts, batches, transports)
    for function in [f for f in functions if f.__name__ in sys.argv[1:]] or functions:
        check(function)
    if failures:
        print(f"{len(failures)} checks failed: {', '.join(failures)}")
        sys.exit(1)
    print("all checks hold")


if __name__ == "__main__":
    main()
