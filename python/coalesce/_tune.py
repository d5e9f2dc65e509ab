"""Measuring the variants of the kernels on a device."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from typing import Any, Optional, Union

from . import _library as lib
from ._arguments import seconds, text, whole
from ._progress import Progress, Told, run

# What a process of trials runs: the library alone.
_WORKER = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).coalesce_tune_worker(ctypes.c_int32(int(sys.argv[2]))))"


def tune(problem: Optional[str] = None, *, family: Optional[str] = None, device: Union[str, int, None] = None, budget: float = 600.0,
         output: Union[str, os.PathLike[str], None] = None, seed: int = 1, progress: Progress = None) -> list[dict[str, Any]]:
    """Measures the variants of the kernels on a device and keeps the fastest, by which later solves choose.

    problem: "csg", "auction", "assignment" or "qubo"; None: all. family: of kernels, such as "tiles"; None: all that run on the device.
    budget: seconds to spend. output: the file of winners; None: the user's own, which the command `coalesce tune` keeps too
    and which the package reads when it solves first. progress: called with an Incumbent, whose value is the time of the best
    variant in seconds; one that returns True ends the tuning with what is decided by then. True shows a bar of tqdm.
    Returns a summary of each family: "winners" by size, how many variants were "tried", how many of these "timed", and how many
    were "wrong", which never win. Trials run in processes of their own.
    """
    if output is None:
        output = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config") / "coalesce" / "tuned.json"
    index = lib.device_index(device)
    words = [sys.executable, "-c", _WORKER, lib.LIB._name, str(index)]
    worker = (ctypes.c_char_p * len(words))(*(os.fsencode(word) for word in words))
    p = lib.Tune(size=ctypes.sizeof(lib.Tune), device=index, arguments=len(words), worker=worker, problem=text("problem", problem), family=text("family", family),
                 output=os.fsencode(output), budget=seconds("budget", budget), seed=whole("seed", seed, 0, 2**64 - 1))
    found: list[dict[str, Any]] = run("tune", p, lambda summaries: [{name: x for name, x in s.items() if name != "history"} for s in summaries], Told(progress, budget))
    return found


def use_tuning(path: Union[str, os.PathLike[str], None]) -> None:
    """Has later solves choose variants by a file of winners, over those that the package carries; None: by the latter alone."""
    code = lib.LIB.coalesce_tuned(None if path is None else os.fsencode(path))
    if code != lib.OK:
        raise lib.error(code, f"{path}: no file of winners that can be read")
