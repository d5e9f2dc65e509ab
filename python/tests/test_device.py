"""GPU arrays without a GPU: DLPack's capsules and __cuda_array_interface__ over the host's memory, and a library in
place of the real one that solves what the struct points to."""

import ctypes
import gc
import json
import sys
import types

import numpy as np
import pytest
import scipy.optimize

import coalesce
from coalesce import _device
from coalesce import _library as lib

_new = ctypes.pythonapi.PyCapsule_New
_destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _destructor]
_alive: dict[int, tuple] = {}
CODES = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}


@_destructor
def _gone(_):
    Fake.open -= 1


class Fake:
    """An array of a package of GPU arrays, whose memory is the host's."""

    open = 0  # capsules
    streams: list = []

    def __init__(self, a, versioned=True, device=0):
        self.a, self.versioned, self.index = a, versioned, device

    shape = property(lambda self: self.a.shape)
    dtype = property(lambda self: self.a.dtype)

    def __dlpack_device__(self):
        return 2, self.index

    def __dlpack__(self, *, stream=None, **new):
        if not self.versioned and new:
            raise TypeError("max_version")
        Fake.streams.append(stream)
        shape = (ctypes.c_int64 * max(1, self.a.ndim))(*self.a.shape)
        strides = (ctypes.c_int64 * max(1, self.a.ndim))(*(s // self.a.itemsize for s in self.a.strides))
        packed = self.a.flags.c_contiguous and not self.versioned
        t = _device._Tensor(self.a.ctypes.data - 8, 2, self.index, self.a.ndim, CODES[self.a.dtype.kind], 8 * self.a.itemsize, 1,
                            shape, None if packed else strides, 8)
        held = _device._Versioned(1, 1, None, None, 0, t) if self.versioned else t
        _alive[ctypes.addressof(held)] = (held, shape, strides, self.a)
        Fake.open += 1
        return _new(ctypes.addressof(held), b"dltensor_versioned" if self.versioned else b"dltensor", _gone)

    def astype(self, name):
        return Fake(self.a.astype(name), self.versioned, self.index)

    def swapaxes(self, x, y):
        return Fake(self.a.swapaxes(x, y), self.versioned, self.index)

    def get(self):
        return self.a

    def __getitem__(self, k):
        return Fake(self.a[k], self.versioned, self.index)


class Faced(Fake):
    """One that has __cuda_array_interface__ alone."""

    __dlpack_device__ = __dlpack__ = property()  # which no object has

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.a.shape, "typestr": self.a.dtype.str, "data": (self.a.ctypes.data, False), "version": 3, "stream": 7,
                "strides": None if self.a.flags.c_contiguous else self.a.strides}

    def astype(self, name):
        return Faced(self.a.astype(name))

    def swapaxes(self, x, y):
        return Faced(self.a.swapaxes(x, y))


def array(x, copy, order):
    assert copy and order == "C"
    return type(x)(aligned(x.a))


def aligned(a):
    """A copy of an array at a multiple of 64 bytes, as GPU memory is."""
    room = np.empty(a.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    packed = room[first:first + a.nbytes].view(a.dtype).reshape(a.shape)
    packed[...] = a
    return packed


class Library:
    """The C functions, those for costs on a GPU over SciPy."""

    def __init__(self, real):
        self.structs, self.placed, self.text, self.real = [], [], b"", real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def coalesce_assign(self, address):
        p = lib.Assignment.from_address(address)
        if not p.flags & lib.RESIDENT:
            return self.real.coalesce_assign(address)
        self.structs.append({name: getattr(p, name) for name, _ in lib.Assignment._fields_})
        assert p.size == ctypes.sizeof(lib.Assignment)
        dtype = {code: np.dtype(char) for char, code in lib.TYPES.items() if char in "ilfd"}[p.type]
        count = p.batch * p.rows * p.cols
        a = np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(p.costs), dtype).reshape(p.batch, p.rows, p.cols)
        bound = (1 << 60) // min(p.rows, p.cols)
        if dtype.kind == "f" and (np.isnan(a) | (a == (np.inf if p.flags & lib.MAXIMIZE else -np.inf))).any() or dtype.kind == "i" and (
                (a == np.iinfo(dtype).max) | (a > bound) | (a < -bound)).any():
            self.text = b"a cost"
            return lib.COST
        column = np.ctypeslib.as_array((ctypes.c_int32 * (p.batch * p.rows)).from_address(p.column)).reshape(p.batch, p.rows)
        code = np.ctypeslib.as_array((ctypes.c_int32 * p.batch).from_address(p.code))
        column[:] = -1
        for k, one in enumerate(a):
            try:
                r, c = scipy.optimize.linear_sum_assignment(one, bool(p.flags & lib.MAXIMIZE))
                column[k, r], code[k] = c, 0
            except ValueError:
                code[k] = lib.INFEASIBLE
        self.text = json.dumps([{"value": None, "size": {"rows": p.rows, "columns": p.cols}}] * p.batch).encode()
        return lib.INFEASIBLE if p.batch == 1 and code[0] else lib.OK

    def coalesce_assign_matrices(self, address):
        p = lib.Matrices.from_address(address)
        self.placed.append({name: getattr(p, name) for name, _ in p._fields_})
        if max(p.rows, p.cols) > 2048:
            return lib.SHAPE
        dtype = {code: np.dtype(char) for char, code in lib.TYPES.items() if char in "ilfd"}[p.type]
        a = np.frombuffer((ctypes.c_char * (p.batch * p.rows * p.cols * dtype.itemsize)).from_address(p.costs), dtype).reshape(p.batch, p.rows, p.cols)
        if dtype.kind == "f" and np.isnan(a).any() and not p.flags & lib.ENQUEUE:
            return lib.COST

        def room(at, kind, size):
            return np.ctypeslib.as_array((kind * size).from_address(at)) if at else np.empty(size, kind)

        least, code = min(p.rows, p.cols), lib.OK
        rows, cols = (room(at, ctypes.c_int64, p.batch * least).reshape(p.batch, least) for at in (p.row_ind, p.col_ind))
        column, status = room(p.column, ctypes.c_int64, p.batch * p.rows).reshape(p.batch, p.rows), room(p.status, ctypes.c_int32, p.batch)
        column[:] = rows[:] = cols[:] = -1
        status[:] = 0
        for k, one in enumerate(a):
            try:
                rows[k], cols[k] = scipy.optimize.linear_sum_assignment(one, bool(p.flags & lib.MAXIMIZE))
                column[k, rows[k]] = cols[k]
            except ValueError:
                status[k] = 2 if np.isnan(one).any() else 1
                code = lib.INFEASIBLE
        return lib.OK if p.flags & lib.ENQUEUE else code

    def coalesce_start_assignment(self, address, handle):
        if not lib.Assignment.from_address(address).flags & lib.RESIDENT:
            return self.real.coalesce_start_assignment(address, handle)
        handle._obj.value = -1
        self.code = self.coalesce_assign(address)
        return lib.OK

    def coalesce_wait(self, job, wait):
        return self.code if job.value < 0 else self.real.coalesce_wait(job, wait)

    def coalesce_text(self, job, buffer, size):
        if job >= 0:
            return self.real.coalesce_text(job, buffer, size)
        if buffer is not None:
            buffer[:len(self.text)] = self.text
        return len(self.text)

    def coalesce_close(self, job):
        return lib.OK if job.value < 0 else self.real.coalesce_close(job)


@pytest.fixture
def library(monkeypatch):
    stand_in = Library(lib.LIB)
    monkeypatch.setattr(lib, "device_count", lambda: 1)
    monkeypatch.setattr(lib, "LIB", stand_in)
    return stand_in


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(versioned):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for x in (a, a[:, ::2, 1:], a.swapaxes(0, 2), a[:0], a.astype(np.int16)[0], a > 3):
        before = Fake.open
        found = _device.view(Fake(x, versioned, device=3))
        assert (found.address, found.device, found.shape, found.stream) == (x.ctypes.data, 3, x.shape, 1)
        assert found.dtype == x.dtype and (found.strides == x.strides or x.size == 0)
        assert found.contiguous == x.flags.c_contiguous or x.size == 0
        assert Fake.streams[-1] == 1 and Fake.open == before + 1
        del found
        gc.collect()
        assert Fake.open == before  # the memory was given back, once
    with pytest.raises(TypeError, match="Cannot cast"):
        _device.view(Fake(np.zeros((2, 2), complex), versioned))


def test_interface():
    a = np.arange(12.0).reshape(3, 4)
    assert _device.on_gpu(Faced(a)) and _device.on_gpu(Fake(a)) and not _device.on_gpu(a) and not _device.on_gpu([[1]])
    for x in (a, a.T, a[::2]):
        found = _device.view(Faced(x))
        assert (found.address, found.dtype, found.shape, found.strides, found.stream) == (x.ctypes.data, x.dtype, x.shape, x.strides, 7)


def test_arrays_of_jax_tell_once_a_sharding_where_they_are():
    class Array:
        """An array as JAX makes them, of a sharding that is the name of its place."""

        __module__ = "jaxlib._jax"
        asked = 0

        def __init__(self, sharding):
            self.sharding = sharding

        def __dlpack_device__(self):
            Array.asked += 1
            if self.sharding == "several":
                raise BufferError
            return {"gpu": 2, "managed": 13}.get(self.sharding, 1), 0

    for _ in range(3):
        assert [_device.on_gpu(Array(s)) for s in ("gpu", "managed", "several", "cpu")] == [True, True, False, False]
    assert Array.asked == 4
    assert not any(_device.on_gpu(Array(k)) for k in range(500)) and len(_device._shardings) <= 100


@pytest.mark.parametrize("kind", [Fake, Faced])
@pytest.mark.parametrize("maximize", [False, True])
def test_costs_are_read_where_they_are(library, kind, maximize):
    rng = np.random.default_rng(1)
    before, capsules = coalesce.host_copies(), Fake.open
    for dtype in "?bhilBHIefd":
        for shape in ((4, 4), (3, 7), (7, 3), (5, 6, 6), (2, 3, 9), (2, 9, 3), (300, 280), (1, 290, 260)):
            a = (rng.random(shape) * 90 - (20 if dtype in "bhilefd" else 0)).astype(dtype)
            if dtype in "fd" and shape[0] < 10:
                a[..., 0, 0] = -np.inf if maximize else np.inf
            for x in (a, a.swapaxes(-1, -2)):
                r, c = coalesce.linear_sum_assignment(kind(x), maximize)
                for one, rows, cols in zip(x if x.ndim == 3 else [x], r if x.ndim == 3 else [r], c if x.ndim == 3 else [c]):
                    want = one[scipy.optimize.linear_sum_assignment(one, maximize)].astype(float).sum()
                    assert one[rows, cols].astype(float).sum() == pytest.approx(want)
                    assert (np.diff(rows) > 0).all() and len(set(cols.tolist())) == min(one.shape)
    assert coalesce.host_copies() == before and len(library.structs) == 11 * 8 * 2
    assert {s["stream"] for s in library.structs} == {1 if kind is Fake else 7}
    gc.collect()
    assert Fake.open == capsules


def test_packed_tensors_are_not_copied(library):
    a = aligned(np.random.default_rng(2).random((4, 5, 5)))
    coalesce.linear_sum_assignment(Fake(a))
    assert library.structs[-1]["costs"] == a.ctypes.data and library.structs[-1]["device"] == 0
    coalesce.linear_sum_assignment(Fake(a[0], device=2))
    assert library.structs[-1]["costs"] == a.ctypes.data and library.structs[-1]["device"] == 2
    coalesce.linear_sum_assignment(Fake(a[1]))  # 200 bytes further on: kernels load 64 at once
    assert library.structs[-1]["costs"] % 64 == 0


def test_largest_integers_are_costs_there_too(library):
    before = coalesce.host_copies()
    for dtype in (np.int32, np.int64):
        most = np.iinfo(dtype).max
        assert coalesce.linear_sum_assignment(Fake(np.array([[most, 1], [most, most]], dtype)))[1].tolist() == [1, 0]
    assert [s["type"] for s in library.structs] == [lib.TYPES[c] for c in "iqqd"]
    most = np.array([[2 ** 31 - 1, 1], [2 ** 31 - 1, 2 ** 31 - 1]], np.int32)
    assert coalesce.solve_assignment(Fake(most)).col_ind.tolist() == [1, 0] and coalesce.host_copies() == before


def test_errors_and_copies(library):
    for a, words in ((np.array([[np.nan, 1], [1, 1]]), "invalid"), (np.array([[-np.inf, 1], [1, 1]]), "invalid"), (np.zeros(3), "matrix")):
        before = coalesce.host_copies()
        with pytest.raises(ValueError, match=words):
            coalesce.linear_sum_assignment(Fake(a))
        assert coalesce.host_copies() == before + 1
    before = coalesce.host_copies()
    assert coalesce.solve_assignment(Fake(np.eye(3)), device="host").value == 0
    assert coalesce.solve_assignment(Fake(np.eye(3)), k_best=2, device="host").value == 0
    assert coalesce.host_copies() == before + 2
    with pytest.raises(TypeError, match="tensors"):
        coalesce.linear_sum_assignment([[1]], tensors=True)


def test_infeasible_ones(library):
    with pytest.raises(ValueError, match="cost matrix is infeasible"):
        coalesce.linear_sum_assignment(Fake(np.full((2, 2), np.inf)))
    with pytest.raises(ValueError, match="cost matrix is infeasible"):
        coalesce.linear_sum_assignment(Fake(np.array([[[1.0]], [[np.inf]]])))
    assert len(library.structs) == 2


def test_without_a_gpu_the_host_solves_a_copy():
    before = coalesce.host_copies()
    assert coalesce.linear_sum_assignment(Fake(np.array([[4, 1], [2, 9]])))[1].tolist() == [1, 0]
    assert coalesce.solve_assignment(Fake(np.array([[[4, 1], [2, 9]]])))[0].value == 3
    assert coalesce.host_copies() == before + 2


class Tensor:
    """A tensor of a stand-in for torch, whose memory is the host's."""

    __module__ = "torch"
    is_cuda, layout, requires_grad, device = True, "strided", False, types.SimpleNamespace(index=1)
    shape = property(lambda self: self.a.shape)
    dtype = property(lambda self: f"torch.{self.a.dtype}")

    def __init__(self, a, negative=False):
        self.a, self.negative = a, negative

    def resolve_neg(self):
        return Tensor(-self.a) if self.negative else self

    def is_neg(self):
        return self.negative

    def is_contiguous(self):
        return self.a.flags.c_contiguous

    def clone(self, memory_format):
        return Tensor(aligned(self.a))

    def cpu(self):
        return self.a

    def element_size(self):
        return self.a.itemsize

    def data_ptr(self):
        return self.a.ctypes.data

    def stride(self):
        return tuple(s // self.a.itemsize for s in self.a.strides)


@pytest.fixture
def torch(monkeypatch):
    """A stand-in for torch whose current stream is `stream`."""
    found = types.SimpleNamespace(Tensor=Tensor, strided="strided", version=types.SimpleNamespace(hip=None), stream=77, contiguous_format="contiguous",
                                  int32="int32", int64="int64", empty=lambda shape, dtype, device: Tensor(aligned(np.empty(shape, dtype))))
    found._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: found.stream)
    found.cuda = types.SimpleNamespace(current_stream=lambda index: types.SimpleNamespace(cuda_stream=found.stream if index == 1 else None))
    monkeypatch.setitem(sys.modules, "torch", found)
    return found


def test_matrices_are_solved_into_tensors(library, torch):
    rng = np.random.default_rng(4)
    before = coalesce.host_copies()
    for shape in ((4, 4), (3, 7), (7, 3), (5, 6, 6), (2, 9, 3)):
        for x in (aligned(rng.random(shape)), aligned(rng.random(shape)).swapaxes(-1, -2)):
            for ties in ("any", "scipy"):
                rows, cols = coalesce.linear_sum_assignment(Tensor(x), tensors=True, ties=ties)
                enqueued = coalesce.enqueue_linear_sum_assignment(Tensor(x), ties=ties)
                for one, r, c in zip(x if x.ndim == 3 else [x], rows.a.reshape(-1, min(x.shape[-2:])), cols.a.reshape(-1, min(x.shape[-2:]))):
                    want = scipy.optimize.linear_sum_assignment(one)
                    assert (r == want[0]).all() and (c == want[1]).all()
                assert (enqueued[1].a == cols.a).all() and not enqueued[2].a.any() and enqueued[2].a.shape == x.shape[:-2]
                assert [p["flags"] & lib.SCIPY_TIES != 0 for p in library.placed[-2:]] == [ties == "scipy"] * 2
                assert [p["flags"] & lib.ENQUEUE != 0 for p in library.placed[-2:]] == [False, True]
    assert {p["stream"] for p in library.placed} == {77} and coalesce.host_copies() == before
    assert library.placed[0]["costs"] % 64 == 0 and library.structs == []
    code, (column,) = _device.solve_in_place(Tensor(aligned(np.array([[1.0], [0.0]]))), 0, pairs=False)
    assert code == 0 and column.a.tolist() == [-1, 0] and library.placed[-1]["row_ind"] is None
    status = coalesce.enqueue_linear_sum_assignment(Tensor(aligned(np.array([[[1.0]], [[np.inf]], [[np.nan]]]))))[2]
    assert status.a.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="infeasible"):
        coalesce.linear_sum_assignment(Tensor(aligned(np.full((2, 2), np.inf))), tensors=True)


def test_matrices_without_a_kernel(library, torch):
    wide = Tensor(aligned(np.random.default_rng(5).random((2, 2100))))
    assert coalesce.linear_sum_assignment(wide)[0].tolist() == [0, 1] and len(library.structs) == 1
    for call in (lambda: coalesce.linear_sum_assignment(wide, ties="scipy"), lambda: coalesce.enqueue_linear_sum_assignment(wide),
                 lambda: coalesce.linear_sum_assignment([[1]], ties="first"), lambda: coalesce.linear_sum_assignment(wide, ties="first")):
        with pytest.raises(ValueError, match="2048|kernel"):
            call()


@pytest.mark.parametrize("stream", [0, 77])
def test_tensors_of_torch_are_asked_themselves(library, torch, stream):
    torch.stream = stream
    a = aligned(np.random.default_rng(3).random((6, 6)))
    for x in (a, a[::2], a.T, a[:0]):
        found = _device.view(Tensor(x))
        assert (found.address, found.device, found.dtype, found.shape, found.strides) == (x.ctypes.data, 1, x.dtype, x.shape, x.strides)
    rows, cols = coalesce.linear_sum_assignment(Tensor(a))
    assert a[rows, cols].sum() == pytest.approx(a[scipy.optimize.linear_sum_assignment(a)].sum())
    used = library.placed[-1]
    assert (used["costs"], used["device"], used["stream"]) == (a.ctypes.data, 1, stream)
    assert (_device.view(Tensor(a, negative=True)).owner.a == -a).all()

    class Several(Tensor):
        """A tensor of other memory than its methods say."""

    assert _device.on_gpu(Tensor(a)) and not _device.on_gpu(Several(a))
    torch.version.hip = "6.0"  # GPUs that are not CUDA's
    assert not _device.on_gpu(Tensor(a))
