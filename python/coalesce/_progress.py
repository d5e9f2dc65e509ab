"""How a solve stands while it runs: callbacks, progress bars, and what they were told."""

from __future__ import annotations

import ctypes
import json
import math
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from . import _library as lib


@dataclass(frozen=True)
class Incumbent:
    """How a solve stands while it runs: seconds since its start, the best value and bound so far, NaN where unknown, and
    the share of the work that is done, 0 where the whole is not known."""

    seconds: float
    value: float
    bound: float
    share: float


Progress = Union[Callable[[Incumbent], Any], bool, None]


class Told:
    """A callback of Python that C calls: the exception that it raised, and in `history` what it was told.

    progress: a function, or True for a bar of tqdm, which runs to the end of the work or, where that is not known, of the
    time limit. keep: remember what is told where there is no function too. ask: as wait_for has it.
    """

    def __init__(self, progress: Progress, time_limit: Optional[float] = None, *, keep: bool = False, ask: Optional[Callable[[], Any]] = None) -> None:
        self.failed: Optional[BaseException] = None
        self.history: list[Incumbent] = []
        self.bar: Any = None
        self.limit, self.ask = time_limit, ask
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress: found {progress!r}, expected a function, True, or None")
        tell = self.show if progress is True else progress or None
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            self.bar = tqdm(total=100, bar_format="{l_bar}{bar}| {elapsed}{postfix}", leave=True)

        def told(_: Any, seconds: float, value: float, bound: float, share: float) -> int:
            try:
                now = Incumbent(seconds, value, bound, share)
                self.history.append(now)
                return int(self.failed is not None or callable(tell) and tell(now) is True)
            except BaseException as e:
                self.failed = e
                return 1

        self.function = lib.Progress(told) if tell is not None or keep else lib.Progress()

    def show(self, now: Incumbent) -> None:
        """Moves the bar."""
        share = now.share or (now.seconds / self.limit if self.limit else 0.0)
        self.bar.n = min(100, int(100 * share))
        self.bar.set_postfix({name: f"{x:.10g}" for name, x in (("value", now.value), ("bound", now.bound)) if math.isfinite(x)})

    def end(self) -> None:
        """Closes the bar, once the solve has ended, and raises what the function raised."""
        if self.bar is not None:
            self.bar.close()
        if self.failed is not None:
            raise self.failed

    def run(self, start: Callable[[Any], int], finish: Callable[[Any], Any]) -> Any:
        """A job that tells: what finish makes of its report, or its list of reports, with the history, or the exception that the
        function raised."""

        try:
            result = lib.wait_for(start, lambda text: self.finished(finish, text), self.ask)
        except (lib.CoalesceError, MemoryError, ValueError, KeyboardInterrupt) as e:
            if self.failed is not None:  # it ended the solve
                e = self.failed  # type: ignore[assignment]
                self.failed = None
            self.end()
            raise e
        self.end()
        return result

    def finished(self, finish: Callable[[Any], Any], text: str) -> Any:
        """What finish makes of a report, or of a list of them, with the history."""
        reports = json.loads(text)
        for report in reports if isinstance(reports, list) else [reports]:
            report.setdefault("history", self.entries())
        return finish(reports)

    def entries(self) -> list[dict[str, float]]:
        """The history in the words of the library's JSON."""
        return [{"seconds": i.seconds, "value": i.value, "bound": i.bound, "share": i.share} for i in self.history]


def run(kind: str, problem: Any, finish: Callable[[Any], Any], told: Told) -> Any:
    """A solve of a struct, as told.run has it."""
    problem.progress = told.function
    return told.run(lambda handle: getattr(lib.LIB, "coalesce_start_" + kind)(ctypes.addressof(problem), ctypes.byref(handle)), finish)
