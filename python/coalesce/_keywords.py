"""Options as keywords of functions, and jobs that take them."""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import threading
from typing import Any, Callable, Iterable, Mapping, TypeVar

import numpy as np

from . import _library as lib
from ._arguments import Check
from ._progress import Told

F = TypeVar("F", bound=Callable[..., Any])


def keywords(options: type) -> Callable[[F], F]:
    """Gives a function that ends with **options the signature and the docstring of the options' class."""

    def documented(function: F) -> F:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        named += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in options.__annotations__.items()]
        function.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
        function.__doc__ = f"{inspect.getdoc(function)}\n\n{inspect.getdoc(options)}"
        return function

    return documented


def encode(checks: Mapping[str, Check], options: Mapping[str, Any], **own: Any) -> bytes:
    """The JSON object of options that the library takes, which own adds to; None is left out: it stands for the default."""
    given = {name: value for name, value in own.items() if value is not None}
    for name, value in options.items():
        if name not in checks:
            raise TypeError(f"found the keyword {name!r}, expected some of {', '.join(checks)}")
        if value is not None:
            given[name] = checks[name](name, value)
    return json.dumps(given).encode()


class _Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("length", ctypes.c_int64), ("type", ctypes.c_int32), ("unused", ctypes.c_int32)]


class _Direct(threading.local):
    """A thread's room for the answers of coalesce_solve."""

    def __init__(self) -> None:
        self.text, self.code, self.busy = ctypes.create_string_buffer(1 << 15), ctypes.c_int32(), False


_direct = _Direct()


def start(problem: str, options: bytes, arrays: Mapping[str, Any], finish: Callable[[Any], Any], told: Told, small: bool = False) -> Any:
    """A job of a problem by its name, options and one-dimensional arrays, as told.run has it.

    small: the solve takes some milliseconds at most, and none waits for ctrl-C so long: it needs no job.
    """
    given = (_Array * len(arrays))(*(_Array(name.encode(), a.ctypes.data, len(a), lib.TYPES[a.dtype.char]) for name, a in arrays.items()))
    if small and not told.function and told.ask is None and not _direct.busy:
        _direct.busy = True
        try:
            length = lib.LIB.coalesce_solve(problem.encode(), options, given, len(given), ctypes.byref(_direct.code), _direct.text, len(_direct.text))
            code, text = (-length, "") if length < 0 else (_direct.code.value, ctypes.string_at(_direct.text, min(length, len(_direct.text))).decode())
        finally:
            _direct.busy = False
        if code != lib.OK:
            raise lib.failure(code, text)
        if length <= len(_direct.text):
            return told.finished(finish, text)
    return told.run(lambda handle: lib.LIB.coalesce_start(problem.encode(), options, given, len(given), told.function, None, ctypes.byref(handle)), finish)


def call(command: str, files: Iterable[Any], flags: type, options: Mapping[str, Any], prints: bool = False) -> Any:
    """Runs a command of the program in this process: its JSON, a list of those of several files, or else its text.

    flags: the class of the command's flags, whose names are those of the keywords. prints: the command has the flag --json.
    Raises ValueError where the command line is wrong, InfeasibleError, CheckError, and CoalesceError of what else fails.
    """
    arguments = command.split()
    for name, value in options.items():
        if name not in flags.__annotations__:
            raise TypeError(f"found the keyword {name!r}, expected some of {', '.join(flags.__annotations__)}")
        if value is None:
            continue
        flag = "--" + name.strip("_").replace("_", "-")
        if isinstance(value, (bool, np.bool_)):
            arguments.append(f"{flag}={'true' if value else 'false'}")
        elif isinstance(value, (list, tuple)):
            arguments += [f"{flag}={os.fspath(item) if isinstance(item, os.PathLike) else item}" for item in value]
        else:
            arguments.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    if prints:
        arguments.append("--json")
    arguments += ["--", *(os.fspath(f) for f in files)]
    given = (ctypes.c_char_p * len(arguments))(*(os.fsencode(a) for a in arguments))
    outcome = json.loads(lib.wait_for(lambda handle: lib.LIB.coalesce_start_command(given, len(given), ctypes.byref(handle)), lambda text: text))
    answers: Any = outcome["output"]
    if prints:
        found = [json.loads(line) for line in outcome["output"].splitlines() if line]
        answers = found[0] if len(found) == 1 else found
    if outcome["code"] == 0:
        return answers
    said = outcome["messages"].strip()
    failed: lib.CoalesceError
    if outcome["code"] == 2:
        raise ValueError(said)
    if outcome["code"] == 3:
        failed = lib.CheckError(said)
    elif isinstance(answers, dict) and answers.get("value", 0) is None:
        failed = lib.InfeasibleError(said)
    else:
        failed = lib.CoalesceError(said)
    if prints:
        failed.report = answers or None  # type: ignore[attr-defined]
    raise failed
