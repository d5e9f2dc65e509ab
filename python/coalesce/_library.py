"""The C library: its structs, as cmd/libcoalesce/coalesce.h describes them, and jobs."""

from __future__ import annotations

import ctypes
import importlib
import json
import pathlib
import sys
import threading
from typing import Any, Callable, Optional, Union

from ._arguments import whole

RUNNING, OK, INVALID, COST, INFEASIBLE, CANCELLED, MEMORY, INTERNAL, FORKED, SHAPE = range(-1, 9)
HOST = -1  # COALESCE_HOST
MAXIMIZE, LIMIT, UNCHECKED, BOTTLENECK, FLOOR, RESIDENT, REPORT, ENQUEUE, SCIPY_TIES, ANY_SUMS = 1, 2, 4, 16, 32, 128, 256, 512, 1024, 2048
MOST = 2**31 - 1  # of counts and of numbers of devices
METRICS = {"euclidean": 0, "squared": 1, "manhattan": 2}

# Codes of NumPy's types, by dtype.char.
TYPES = {"b": 1, "h": 2, "i": 3, "B": 5, "H": 6, "I": 7, "f": 9, "d": 10, "?": 5}
TYPES["l"], TYPES["L"] = (4, 8) if ctypes.sizeof(ctypes.c_long) == 8 else (3, 7)
TYPES["q"], TYPES["Q"] = 4, 8


def _door() -> Any:
    """The extension for small matrices, where this Python has the stable ABI of 3.10 and the package was built with it."""
    if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
        return None
    try:
        return importlib.import_module("._door", __package__)
    except ImportError:
        return None


DOOR = _door()


class CoalesceError(Exception):
    """The errors of this package."""


class CostError(CoalesceError, ValueError):
    """A cost, value or coefficient cannot be used: not a number, an infinity of the wrong sign."""


class InfeasibleError(CoalesceError, ValueError):
    """No solution is feasible. `report` is the library's answer, with the proof, where there is one."""

    report: Any = None


class CancelledError(CoalesceError, TimeoutError):
    """The time limit ended a solve before there was an answer."""


class CheckError(CoalesceError, RuntimeError):
    """A check refuted an answer. `report` says what failed, where the command prints that."""

    report: Any = None


class ForkedError(CoalesceError, RuntimeError):
    """The process was forked after the library was loaded, whose threads stayed in the parent."""


class InternalError(CoalesceError, RuntimeError):
    """Anything else that went wrong: of the device, or a bug."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C met a solve whose result does not say so. `result` is what was found, None where nothing was."""

    def __init__(self, result: Any = None) -> None:
        super().__init__("the solve was interrupted; result is the best so far" if result is not None else "the solve was interrupted")
        self.result = result


Progress = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_double, ctypes.c_double)


class Assignment(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("device", ctypes.c_int32), ("type", ctypes.c_int32),
        ("batch", ctypes.c_int64), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
        ("batch_stride", ctypes.c_int64), ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64),
        ("costs", ctypes.c_void_p), ("start", ctypes.c_void_p), ("col", ctypes.c_void_p),
        ("limit", ctypes.c_double), ("time_limit", ctypes.c_double), ("algorithm", ctypes.c_char_p),
        ("column", ctypes.c_void_p), ("u", ctypes.c_void_p), ("v", ctypes.c_void_p), ("scale", ctypes.c_void_p),
        ("value", ctypes.c_void_p), ("gap", ctypes.c_void_p), ("code", ctypes.c_void_p),
        ("text", ctypes.c_void_p), ("text_size", ctypes.c_int64), ("k_best", ctypes.c_int64),
        ("dimensions", ctypes.c_int64), ("row_points", ctypes.c_void_p), ("col_points", ctypes.c_void_p),
        ("metric", ctypes.c_int32), ("unused", ctypes.c_int32),
        ("start_u", ctypes.c_void_p), ("start_v", ctypes.c_void_p), ("start_scale", ctypes.c_double),
        ("progress", Progress), ("user", ctypes.c_void_p),
        ("stream", ctypes.c_int64), ("options", ctypes.c_char_p),
    ]


class Matrices(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("device", ctypes.c_int32), ("type", ctypes.c_int32),
        ("batch", ctypes.c_int64), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("costs", ctypes.c_void_p), ("stream", ctypes.c_int64),
        ("row_ind", ctypes.c_void_p), ("col_ind", ctypes.c_void_p), ("column", ctypes.c_void_p), ("status", ctypes.c_void_p),
        ("text", ctypes.c_void_p), ("text_size", ctypes.c_int64),
    ]


class Transports(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("device", ctypes.c_int32), ("type", ctypes.c_int32),
        ("batch", ctypes.c_int64), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
        ("costs", ctypes.c_void_p), ("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("stream", ctypes.c_int64),
        ("plan", ctypes.c_void_p), ("u", ctypes.c_void_p), ("v", ctypes.c_void_p), ("cost", ctypes.c_void_p), ("status", ctypes.c_void_p),
        ("text", ctypes.c_void_p), ("text_size", ctypes.c_int64),
        ("pair_row", ctypes.c_void_p), ("pair_col", ctypes.c_void_p), ("amount", ctypes.c_void_p), ("pairs", ctypes.c_void_p),
    ]


class Tune(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("device", ctypes.c_int32), ("arguments", ctypes.c_int32),
        ("worker", ctypes.POINTER(ctypes.c_char_p)), ("problem", ctypes.c_char_p), ("family", ctypes.c_char_p), ("output", ctypes.c_char_p),
        ("budget", ctypes.c_double), ("seed", ctypes.c_uint64), ("progress", Progress), ("user", ctypes.c_void_p),
    ]


def _load() -> ctypes.CDLL:
    """The library with CUDA where the wheel has it and a driver answers, else the plain one."""
    here = pathlib.Path(__file__).parent
    path, cuda = here / ("libcoalesce" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")), here / "libcoalesce-cuda.so"
    if cuda.exists():
        try:
            if ctypes.CDLL("libcuda.so.1").cuInit(0) == 0:
                path = cuda
        except OSError:
            pass
    lib = ctypes.CDLL(str(path))
    for name in ("assignment", "tune"):
        getattr(lib, "coalesce_start_" + name).argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)]
    lib.coalesce_start.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32, Progress, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)]
    lib.coalesce_solve.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_char_p, ctypes.c_int64]
    lib.coalesce_start_command.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int32, ctypes.POINTER(ctypes.c_int64)]
    lib.coalesce_assign.argtypes = lib.coalesce_assign_matrices.argtypes = lib.coalesce_solve_transports.argtypes = [ctypes.c_void_p]
    lib.coalesce_tuned.argtypes, lib.coalesce_tune_worker.argtypes = [ctypes.c_char_p], [ctypes.c_int32]
    lib.coalesce_wait.argtypes = [ctypes.c_int64, ctypes.c_int32]
    lib.coalesce_cancel.argtypes = lib.coalesce_close.argtypes = [ctypes.c_int64]
    lib.coalesce_text.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
    lib.coalesce_devices.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    lib.coalesce_text.restype = lib.coalesce_devices.restype = lib.coalesce_solve.restype = ctypes.c_int64
    if DOOR is not None:
        DOOR.bind(ctypes.cast(lib.coalesce_assign, ctypes.c_void_p).value)
    return lib


class _Lazy:
    """The library, which the first use of one of its functions loads. A process that has not used it may fork."""

    def __getattr__(self, name: str) -> Any:
        with _loading:
            if "loaded" not in self.__dict__:
                self.loaded = _load()
        found = getattr(self.loaded, name)
        setattr(self, name, found)
        return found


_loading = threading.Lock()
LIB: Any = _Lazy()


def error(code: int, text: str) -> Exception:
    """The exception of a code."""
    if code == INFEASIBLE:
        return InfeasibleError(text or "no solution is feasible")
    if code == COST:
        return CostError(text)
    if code == INVALID:
        return ValueError(text)
    if code == MEMORY:
        return MemoryError(text)
    if code == CANCELLED:
        return CancelledError("the time limit ended the solve before there was an answer")
    if code == FORKED:
        return ForkedError("this process was forked after coalesce had solved in its parent, where the library's threads stayed: "
                           "start processes by the methods spawn or forkserver, or before the first solve")
    return InternalError(text)


def _text(job: int) -> str:
    size = LIB.coalesce_text(job, None, 0)
    if size <= 0:
        return ""
    buffer = ctypes.create_string_buffer(size)
    LIB.coalesce_text(job, buffer, size)
    return buffer.raw.decode()


def stopped(text: str) -> bool:
    """Whether an answer, or one of a list, says that it was stopped."""
    return '"interrupted":true' in text


def solve(kind: str, problem: ctypes.Structure, finish: Callable[[str], Any]) -> Any:
    """A job of a struct."""
    return wait_for(lambda handle: getattr(LIB, "coalesce_start_" + kind)(ctypes.addressof(problem), ctypes.byref(handle)), finish)


def wait_for(start: Callable[[Any], int], finish: Callable[[str], Any], ask: Optional[Callable[[], Any]] = None) -> Any:
    """Starts a job, waits for its end with the GIL released, and makes finish's result of its text.

    ask: called every 50 ms; the job ends with what it has found once that is true.

    Ctrl-C ends the job with what it has found by then, and the result says so. Interrupted is raised where there is no result,
    where it was whole before the job heard of ctrl-C, and after a second one.
    """
    handle = ctypes.c_int64()
    interrupted = 0
    try:
        code = start(handle)
        if code != OK:
            raise error(code, "")
        wait = 1
        while True:
            try:
                code = LIB.coalesce_wait(handle, wait)
                if code != RUNNING:
                    break
                wait = min(2 * wait, 50)
                if ask is not None and ask():
                    ask = None
                    LIB.coalesce_cancel(handle)
            except KeyboardInterrupt:
                interrupted += 1
                LIB.coalesce_cancel(handle)
        text = _text(handle.value)
    finally:  # until then the library may read the caller's arrays
        if handle.value:
            LIB.coalesce_close(handle)
    if code == OK:
        result = finish(text)
        if interrupted > 1 or interrupted and not stopped(text):
            raise Interrupted(result)
        return result
    if interrupted:
        raise Interrupted()
    raise failure(code, text)


def failure(code: int, text: str) -> Exception:
    """The exception of a solve that ended with a code and a text, which may be an infeasible instance's report."""
    if code == INFEASIBLE and text.startswith(("{", "[")):
        failed = InfeasibleError("no solution is feasible")
        failed.report = json.loads(text)
        return failed
    return error(code, text)


def device_name(device: Union[str, int, None]) -> str:
    """The name that coalesce_start takes: "host" or "cuda:1"; None is the first GPU, or the host."""
    index = device_index(device)
    return "host" if index < 0 else f"cuda:{index}"


def device_index(device: Union[str, int, None]) -> int:
    """The library's number of a device: "host", "cuda", "cuda:1"; None is the first GPU, or the host."""
    if device is None:
        return _default()
    if not isinstance(device, str):
        return whole("device", device, -1, MOST)
    if device in ("host", "cpu"):
        return -1
    kind, _, index = device.partition(":")
    if kind == "cuda" and (index or "0").isdecimal() and len(index) < 6:
        return int(index or "0")
    raise ValueError(f"device {device!r}: expected host, cuda or cuda:N")


_gpus: Optional[int] = None


def device_count() -> int:
    """How many GPUs the library solves on."""
    global _gpus
    if _gpus is None:
        _gpus = sum(d["kind"] == "cuda" for d in devices())
    return _gpus


def _default() -> int:
    return 0 if device_count() else -1


def devices() -> list[dict[str, Any]]:
    """The devices that can solve here: the facts of each, "kind" ("host" or "cuda"), "index", "name", "memory", ... in bytes."""
    size = LIB.coalesce_devices(None, 0)
    if size < 0:
        raise error(-size, "the devices cannot be listed")
    buffer = ctypes.create_string_buffer(size + 4096)
    size = LIB.coalesce_devices(buffer, size + 4096)
    found: list[dict[str, Any]] = json.loads(buffer.raw[:size])
    return found
