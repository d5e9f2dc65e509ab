"""What every answer tells besides its solution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional


def number(x: Any) -> Optional[float]:
    """A value of the library's JSON: a number, decimals in a string, or nothing."""
    return None if x is None or x == "" else float(x)


@dataclass(repr=False, eq=False)
class Report:
    """How an answer came about.

    value: of the solution, recomputed from the instance. bound: no solution is better; None where nothing is known.
    gap: the most that value may be from the optimum. proven: a certificate proves value within gap of the optimum.
    seconds: wall-clock times by step. certificate: what checking the answer found. interrupted: ctrl-C or the time
    limit ended the solve. report: all that the library told.
    """

    report: dict[str, Any]

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

    def __repr__(self) -> str:
        proof = "proven optimal" if self.proven and not self.gap else f"proven within {self.gap:g}" if self.proven and self.gap is not None else "not proven"
        if not self.proven and self.bound is not None and math.isfinite(self.bound):
            proof += f", bound {self.bound:g}"
        value = "none" if self.value is None else f"{self.value:.15g}"
        size = ", ".join(f"{count} {name}" for name, count in self.report["size"].items())
        return f"<{type(self).__name__}: value {value}, {proof}; {size}; {self.report['variant'] or 'no search'} on {self.device}, {self.seconds['solve']:.3g} s>"
