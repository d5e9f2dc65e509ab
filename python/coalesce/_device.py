"""Arrays that are on a GPU: of torch, CuPy, JAX and all that speak DLPack or __cuda_array_interface__.

Tensors of torch are asked themselves, which takes 2 microseconds where their DLPack takes 28 (3 x 3, an H200's host).
Arrays of JAX are asked once a sharding where they are: asking each made a call 12 microseconds longer than torch's there."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _library as lib

_CUDA, _MANAGED = 2, 13  # of DLDeviceType: cudaMalloc's memory, and cudaMallocManaged's
_LEGACY = 1  # CUDA's default stream, as DLPack and __cuda_array_interface__ number it

copies = 0  # of GPU arrays to the host; see host_copies


def host_copies() -> int:
    """How many GPU arrays have been copied to the host since the import: where the library has no kernels for what was
    asked, or has to tell what is wrong with a cost. 0 says that every cost was read where it was."""
    return copies


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h; before version 1 the tensor came first."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_named = ctypes.pythonapi.PyCapsule_IsValid
_named.restype, _named.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


@dataclass
class View:
    """Where an array's numbers are. strides: in bytes. owner keeps the memory until the view goes."""

    address: int
    device: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    stream: int
    owner: Any

    @property
    def contiguous(self) -> bool:
        step = self.dtype.itemsize
        for size, stride in zip(reversed(self.shape), reversed(self.strides)):
            if size > 1 and stride != step:
                return False
            step *= size
        return True


def _plain_torch(x: Any) -> bool:
    """Whether an array is a tensor of torch that is what its methods say: no subclass, which may be of several devices."""
    torch = sys.modules.get("torch")
    return torch is not None and type(x) is getattr(torch, "Tensor", None) and torch.version.hip is None and x.layout is torch.strided


_shardings: dict[Any, bool] = {}  # of JAX: whether arrays of a sharding, which names device and memory, are on a GPU


def on_gpu(x: Any) -> bool:
    """Whether an array's memory is that of a GPU."""
    if _plain_torch(x):
        return bool(x.is_cuda)
    if type(x).__module__.startswith("jaxlib"):
        known = _shardings.get(x.sharding)
        if known is None:
            if len(_shardings) >= 100:
                _shardings.clear()
            known = _shardings[x.sharding] = _says_gpu(x)
        return known
    return _says_gpu(x) if hasattr(x, "__dlpack_device__") else hasattr(x, "__cuda_array_interface__")


def _says_gpu(x: Any) -> bool:
    try:
        return x.__dlpack_device__()[0] in (_CUDA, _MANAGED)
    except BufferError:  # of several devices
        return False


def view(x: Any) -> View:
    """A view of an array on a GPU: of torch by the tensor's methods, else by DLPack where it can, else by
    __cuda_array_interface__. The view's stream is one after whose work the numbers are there."""
    if _plain_torch(x):
        return _of_torch(x)
    return _by_dlpack(x) if hasattr(x, "__dlpack__") else _by_interface(x)


def _of_torch(x: Any) -> View:
    x = x.resolve_neg()  # of a view whose sign is still to be turned
    size, index = x.element_size(), x.device.index
    stream = sys.modules["torch"].cuda.current_stream(index).cuda_stream
    return View(x.data_ptr(), index, np.dtype(_name(x)), tuple(x.shape), tuple(s * size for s in x.stride()), stream or _LEGACY, x)


def _by_dlpack(x: Any) -> View:
    try:
        capsule = x.__dlpack__(stream=_LEGACY, max_version=(1, 0))
    except TypeError:  # made before max_version was
        capsule = x.__dlpack__(stream=_LEGACY)
    if _named(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise BufferError(f"found DLPack {versioned.major}.{versioned.minor}, expected 1")
        t = versioned.tensor
    else:
        t = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    kind = {0: "i", 1: "u", 2: "f", 6: "b"}.get(t.code)
    if kind is None or t.lanes != 1 or t.bits % 8:
        raise TypeError(f"Cannot cast numbers of DLPack's type {t.code} with {t.bits} bits to dtype('float64')")
    dtype = np.dtype(f"{kind}{t.bits // 8}")
    shape = tuple(t.shape[k] for k in range(t.ndim))
    if t.strides:
        strides = tuple(t.strides[k] * dtype.itemsize for k in range(t.ndim))
    else:
        strides = _packed(shape, dtype.itemsize)
    # The capsule gives the memory back when it goes, since it is not renamed.
    return View((t.data or 0) + t.byte_offset, t.device_id, dtype, shape, strides, _LEGACY, capsule)


def _by_interface(x: Any) -> View:
    face: dict[str, Any] = x.__cuda_array_interface__
    dtype, shape = np.dtype(face["typestr"]), tuple(face["shape"])
    if face.get("mask") is not None:
        raise TypeError("found a masked array, expected one without")
    address = face["data"][0] or 0
    stream = face.get("stream")
    return View(address, _ordinal(address), dtype, shape, face.get("strides") or _packed(shape, dtype.itemsize), stream or _LEGACY, x)


def _packed(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides: list[int] = []
    for n in reversed(shape):
        strides.insert(0, size)
        size *= n
    return tuple(strides)


@functools.lru_cache(maxsize=1)
def _driver() -> Optional[ctypes.CDLL]:
    """The driver's library, where there is one."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def _ordinal(address: int) -> int:
    """The GPU whose memory is at an address."""
    ordinal = ctypes.c_int(0)
    if address and (driver := _driver()) is not None:
        driver.cuPointerGetAttribute(ctypes.byref(ordinal), 9, ctypes.c_uint64(address))  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return ordinal.value


def _home(x: Any) -> Any:
    """The package of an array, with where, isinf and the like."""
    name = type(x).__module__.partition(".")[0]
    if name in ("jax", "jaxlib"):
        import jax.numpy
        return jax.numpy
    return sys.modules.get(name)


def _cast(x: Any, name: str) -> Any:
    """An array as one of another type; None where its package has none, such as JAX without 64 bits."""
    home = _home(x)
    cast = x.to(getattr(home, name)) if hasattr(home, "contiguous_format") else x.astype(name)
    return cast if _name(cast) == name else None


def _packed_copy(x: Any) -> Any:
    home = _home(x)
    if hasattr(home, "contiguous_format"):
        return x.clone(memory_format=home.contiguous_format)
    return home.array(x, copy=True, order="C")


@dataclass
class Resident:
    """Costs on a GPU as the library takes them: packed, a batch of them."""

    view: View
    shape: tuple[int, int, int]
    turned: bool  # the array's rows are columns here

    def fill(self, p: lib.Assignment) -> None:
        p.device, p.type = self.view.device, lib.TYPES[self.view.dtype.char]
        p.batch, p.rows, p.cols = self.shape
        p.costs, p.stream = self.view.address, self.view.stream


# What costs of other types become, as the library does with those of the host.
_TAKEN = {"float16": "float32", "bfloat16": "float32", "int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "bool": "int32",
          "uint32": "int64", "int32": "int32", "int64": "int64", "float32": "float32", "float64": "float64"}
_WIDER = {"int32": "int64", "int64": "float64"}
_SOLO = 256  # rows from which on a single matrix must not have more rows than columns

_names: dict[Any, str] = {}


def _name(x: Any) -> str:
    """What an array's type is called: of torch without the package's name."""
    name = _names.get(x.dtype)
    if name is None:
        name = _names[x.dtype] = str(x.dtype).rpartition(".")[2]
    return name


def _readable(x: Any) -> Any:
    """An array, or one of its numbers as a type that the library takes; None where it is no matrix or batch of those."""
    if not hasattr(x, "dtype") or lib.device_count() == 0 or len(x.shape) not in (2, 3) or 0 in x.shape:
        return None
    if getattr(x, "requires_grad", False):
        x = x.detach()
    name = _name(x)
    taken = _TAKEN.get(name)
    return x if taken == name else None if taken is None else _cast(x, taken)


def _packed_view(x: Any) -> View:
    """A view of an array or of a copy of it, as kernels read it."""
    found = view(x)
    return found if found.contiguous and found.address % 64 == 0 else view(_packed_copy(x))


def resident(x: Any) -> Optional[Resident]:
    """An array's costs where they are, or None where the host has to look at them: errors are found there."""
    if (x := _readable(x)) is None:
        return None
    shape = tuple(x.shape)
    turned = (len(shape) == 2 or shape[0] == 1) and shape[-2] > shape[-1] > _SOLO
    if turned:
        x = x.swapaxes(-1, -2)
    found = _packed_view(x)
    rows, cols = found.shape[-2:]
    return Resident(found, (shape[0] if len(shape) == 3 else 1, rows, cols), turned)


class _InPlace(threading.local):
    """A thread's structs for matrices that are solved into tensors, by shape, type, GPU and flags: what a call with the
    same sets anew are addresses."""

    def __init__(self) -> None:
        self.text = ctypes.create_string_buffer(512)
        self.structs: dict[Any, tuple[lib.Matrices, int]] = {}

    def struct(self, shape: tuple[int, ...], dtype: Any, device: int, flags: int, pairs: bool) -> tuple[lib.Matrices, int]:
        key = (shape, dtype, device, flags, pairs)
        found = self.structs.get(key)
        if found is None:
            if len(self.structs) >= 100:
                self.structs.clear()
            p = lib.Matrices(size=ctypes.sizeof(lib.Matrices), text=ctypes.addressof(self.text), text_size=len(self.text), flags=flags, device=device,
                             type=_CODES[_names[dtype]], batch=shape[0] if len(shape) == 3 else 1, rows=shape[-2], cols=shape[-1])
            found = self.structs[key] = p, ctypes.addressof(p)
        return found


_in_place = _InPlace()
_CODES = {name: lib.TYPES[np.dtype(name).char] for name in ("int32", "int64", "float32", "float64")}


def _room(x: Any, shape: tuple[int, ...], name: str) -> Any:
    """An array of torch or CuPy on x's GPU, whose numbers are not set."""
    home = _home(x)
    if hasattr(home, "contiguous_format"):
        return home.empty(shape, dtype=getattr(home, name), device=x.device)
    with x.device:
        return home.empty(shape, name)


def _torch_stream(index: int) -> int:
    """CUDA's handle of torch's current stream, by the function that its compilers use where it is there."""
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(raw(index) if raw is not None else torch.cuda.current_stream(index).cuda_stream)


def solve_in_place(x: Any, flags: int, pairs: bool = True) -> Optional[tuple[int, list[Any]]]:
    """The library's code for an array on a GPU of torch or CuPy, whose answers the GPU writes to arrays there by the
    caller's stream: with pairs the matched rows and their columns, else the column of each row, and with ENQUEUE the
    statuses. None where it has no kernel for that."""
    torch = _plain_torch(x)
    if not (torch or type(x).__module__.startswith("cupy")) or (x := _readable(x)) is None:
        return None
    if torch and x.is_contiguous() and not x.is_neg() and x.data_ptr() % 64 == 0:
        device, address, stream = x.device.index, x.data_ptr(), _torch_stream(x.device.index)
    else:
        found = _packed_view(x)
        device, address = found.device, found.address  # found keeps a copy until the work is in the stream
        stream = found.stream if torch else _home(x).cuda.get_current_stream().ptr
    shape = tuple(x.shape)
    p, at = _in_place.struct(shape, x.dtype, device, flags, pairs)
    p.costs, p.stream = address, stream
    if pairs:
        least = (*shape[:-2], min(shape[-2:]))
        answers = [_room(x, least, "int64"), _room(x, least, "int64")]
        p.row_ind, p.col_ind = _address(answers[0]), _address(answers[1])
    else:
        answers = [_room(x, shape[:-1], "int64")]
        p.column = _address(answers[0])
    if flags & lib.ENQUEUE:
        answers.append(_room(x, shape[:-2], "int32"))
        p.status = _address(answers[-1])
    code = lib.LIB.coalesce_assign_matrices(at)
    return None if code == lib.SHAPE else (code, answers)


def _address(x: Any) -> int:
    return int(x.data_ptr() if hasattr(x, "data_ptr") else x.data.ptr)


def _masses(x: Any, given: Any, shape: tuple[int, ...]) -> Optional[View]:
    """Masses beside costs x on a GPU, equal ones where none are given; None where their shape is another."""
    home = _home(x)
    torch = hasattr(home, "contiguous_format")
    if not hasattr(given, "dtype"):
        given = np.asarray(given, np.float64)
    if 0 in given.shape:
        found = _room(x, shape, "float64")
        found[...] = 1.0 / shape[-1]
    elif tuple(given.shape) != shape:
        return None
    elif torch:
        found = home.as_tensor(given, dtype=home.float64, device=x.device).detach()
    else:
        with x.device:
            found = home.asarray(given, "float64")
    return _packed_view(found)


def transport(a: Any, b: Any, x: Any, flags: int) -> Optional[tuple[int, list[Any]]]:
    """The library's code for optimal transport of costs on a GPU of torch or CuPy, with what it writes there by the caller's stream: plans, duals of rows and of
    columns, and sums. None where it has no kernel for that, and where shapes do not fit."""
    torch = _plain_torch(x)
    if not (torch or type(x).__module__.startswith("cupy")) or (x := _readable(x)) is None:
        return None
    shape = tuple(x.shape)
    batch, n, m = shape[:-2], shape[-2], shape[-1]
    found, rows, cols = _packed_view(x), _masses(x, a, (*batch, n)), _masses(x, b, (*batch, m))
    if rows is None or cols is None:
        return None
    name = _name(x)
    answers = [_room(x, shape, name if name.startswith("float") else "float64"), _room(x, (*batch, n), "float64"), _room(x, (*batch, m), "float64"),
               _room(x, batch, "float64")]
    status = _room(x, batch or (1,), "int32")
    p = lib.Transports(size=ctypes.sizeof(lib.Transports), flags=flags, device=found.device, type=_CODES[name], batch=batch[0] if batch else 1, rows=n, cols=m,
                       costs=found.address, a=rows.address, b=cols.address, stream=found.stream if torch else _home(x).cuda.get_current_stream().ptr,
                       plan=_address(answers[0]), u=_address(answers[1]), v=_address(answers[2]), cost=_address(answers[3]), status=_address(status),
                       text=ctypes.addressof(_in_place.text), text_size=len(_in_place.text))
    code = lib.LIB.coalesce_solve_transports(ctypes.addressof(p))
    return None if code == lib.SHAPE else (code, answers)


def fault() -> str:
    """What was wrong in the thread's last solve in place."""
    return _in_place.text.value.decode(errors="replace")


def wider(x: Any) -> Any:
    """An array of integers as one of a type that holds more, where the library could not take some of them; else None."""
    name = _TAKEN[_name(x)]
    return _cast(x, _WIDER[name]) if name in _WIDER else None


def to_host(x: Any) -> NDArray[Any]:
    """A copy of a GPU array in the host's memory, which is counted."""
    global copies
    copies += 1
    return fetched(x)


def fetched(x: Any) -> NDArray[Any]:
    """A GPU array in the host's memory."""
    if getattr(x, "requires_grad", False):
        x = x.detach()
    for name in ("cpu", "get", "copy_to_host"):  # of torch, CuPy and Numba
        if hasattr(x, name):
            x = getattr(x, name)()
            break
    if str(getattr(x, "dtype", "")).endswith("bfloat16") and hasattr(x, "float"):
        x = x.float()
    return np.asarray(x)


def on_host(x: Any) -> NDArray[Any]:
    """An array of the host's memory as one of NumPy, in place where it can be."""
    if _plain_torch(x):
        x = x.detach().resolve_neg()
        return np.asarray((x.float() if _name(x) == "bfloat16" else x).numpy())
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__") and not hasattr(x, "__array_interface__"):
        return np.from_dlpack(x)
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError("found a masked array with masked entries, expected costs: filled(np.inf) makes them forbidden pairs")
    return np.asarray(x)


def like(x: Any, array: NDArray[Any]) -> Any:
    """An array of x's package, on x's device."""
    if isinstance(x, np.ndarray):
        return array
    home = _home(x)
    if hasattr(home, "from_numpy"):
        return home.from_numpy(array).to(x.device)
    if hasattr(x, "devices"):  # of JAX
        import jax
        return jax.device_put(array, next(iter(x.devices())))
    if hasattr(home, "asarray") and hasattr(x, "device"):
        with x.device:
            return home.asarray(array)
    raise TypeError(f"tensors: found costs of the type {type(x).__name__}, expected an array of torch, CuPy, JAX or NumPy")
