"""What every answer tells besides its solution."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from ._object import number
from ._progress import Incumbent
from ._results import ReportFields


def _float(x: Any) -> float:
    """A number, NaN where there is none."""
    found = number(x)
    return float("nan") if found is None else found


@dataclass(repr=False, eq=False)
class Report(ReportFields):
    """How an answer came about."""

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
        ax.set_title(f"{self.problem}, {self._proof()}")
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
        size = ", ".join(f"{count} {name}" for name, count in self.size.items())
        facts = ", ".join(f"{name} {text}" for name, text in self._facts().items())
        reason = f" ({self.reason})" if self.reason else ""
        return f"<{type(self).__name__}: {facts}, {self._proof()}; {size}; {self.report['variant'] or 'no search'} on {self.device}{reason}, {self.seconds['solve']:.3g} s>"

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        rows = {**self._facts(), "proof": self._proof(), "size": ", ".join(f"{count} {name}" for name, count in self.size.items()),
                "device": self.device, "algorithm": self.variant or "no search", "reason": self.reason,
                "seconds": ", ".join(f"{name} {x:.3g}" for name, x in self.seconds.items() if x), "notes": "; ".join(self.notes)}
        body = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items() if text)
        return f"<table><caption>{type(self).__name__}</caption>{body}</table>"
