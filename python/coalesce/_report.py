"""What every answer tells besides its solution."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional, Union

from ._progress import Incumbent


def number(x: Any) -> Optional[float]:
    """A value of the library's JSON: a number, decimals in a string, or nothing."""
    return None if x is None or x == "" else float(x)


def _float(x: Any) -> float:
    """A number, NaN where there is none."""
    found = number(x)
    return float("nan") if found is None else found


@dataclass(repr=False, eq=False)
class Report:
    """How an answer came about.

    value: of the solution, recomputed from the instance. bound: no solution is better; None where nothing is known.
    gap: the most that value may be from the optimum. proven: a certificate proves value within gap of the optimum.
    seconds: wall-clock times by step. certificate: what checking the answer found. interrupted: ctrl-C or the time
    limit ended the solve. report: all that the library told. told: the same, or the JSON text of a list of it alone.
    """

    told: Union[dict[str, Any], bytes]

    @cached_property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.told)[0] if isinstance(self.told, bytes) else self.told
        return found

    @property
    def value(self) -> Optional[float]:
        return number(self.report["value"])

    @property
    def bound(self) -> Optional[float]:
        return number(self.report["bound"])

    @property
    def gap(self) -> Optional[float]:
        return number(self.report["gap"])

    @property
    def proven(self) -> bool:
        return bool(self.report["proven"])

    @property
    def interrupted(self) -> bool:
        return bool(self.report["interrupted"])

    @property
    def seconds(self) -> dict[str, float]:
        return dict(self.report["seconds"])

    @property
    def device(self) -> str:
        return str(self.report["device"])

    @property
    def algorithm(self) -> str:
        return str(self.report["algorithm"])

    @property
    def reason(self) -> str:
        """Why that algorithm, one sentence."""
        return str(self.report["reason"])

    @property
    def notes(self) -> list[str]:
        return list(self.report["notes"])

    @property
    def certificate(self) -> Optional[dict[str, Any]]:
        found: Optional[dict[str, Any]] = self.report.get("certificate")
        return found

    @property
    def incumbents(self) -> list[Incumbent]:
        """What the solve told while it ran, in order; of assignments only where progress was given."""
        return [Incumbent(h["seconds"], _float(h.get("value")), _float(h.get("bound")), h.get("share", 0.0)) for h in self.report.get("history", [])]

    def plot(self, ax: Any = None) -> Any:
        """Draws values and bounds over the seconds of the solve, with matplotlib, on `ax` or on new axes, which it returns."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError("plot needs matplotlib: pip install matplotlib") from None
            ax = pyplot.subplots()[1]
        told = self.incumbents
        times = [i.seconds for i in told]
        times.append(max([self.seconds["solve"], *times]))
        for name, line in (("value", [*(i.value for i in told), _float(self.value)]), ("bound", [*(i.bound for i in told), _float(self.bound)])):
            if any(math.isfinite(x) for x in line):
                ax.step(times, line, where="post", marker=".", label=name)
        ax.set_xlabel("seconds")
        ax.set_ylabel("value")
        ax.set_title(f"{self.report['problem']}, {self._proof()}")
        ax.legend()
        return ax

    def _proof(self) -> str:
        if not self.proven:
            return "not proven"
        return f"proven within {self.gap:g}" if self.gap else "proven optimal"

    def _facts(self) -> dict[str, str]:
        """What is printed of an answer, by name."""
        facts = {"value": "none" if self.value is None else f"{self.value:.15g}"}
        if self.bound is not None and math.isfinite(self.bound):
            facts["bound"] = f"{self.bound:.15g}"
        return facts

    def __repr__(self) -> str:
        size = ", ".join(f"{count} {name}" for name, count in self.report["size"].items())
        facts = ", ".join(f"{name} {text}" for name, text in self._facts().items())
        reason = f" ({self.reason})" if self.reason else ""
        return f"<{type(self).__name__}: {facts}, {self._proof()}; {size}; {self.report['variant'] or 'no search'} on {self.device}{reason}, {self.seconds['solve']:.3g} s>"

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        rows = {**self._facts(), "proof": self._proof(), "size": ", ".join(f"{count} {name}" for name, count in self.report["size"].items()),
                "device": self.device, "algorithm": self.report["variant"] or "no search", "reason": self.reason,
                "seconds": ", ".join(f"{name} {x:.3g}" for name, x in self.seconds.items() if x), "notes": "; ".join(self.notes)}
        body = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items() if text)
        return f"<table><caption>{type(self).__name__}</caption>{body}</table>"
