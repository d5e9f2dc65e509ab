"""What arguments may be: an error names the one that is wrong, before a solve begins."""

from __future__ import annotations

import math
import numbers
import operator
from decimal import Decimal
from typing import Any, Callable, Iterable, Optional

import numpy as np
from numpy.typing import NDArray


def whole(name: str, x: Any, least: int, most: int) -> int:
    """An integer of any kind from least to most: TypeError of another type, of True and of False too, ValueError beyond."""
    if isinstance(x, (bool, np.bool_)):
        raise TypeError(f"{name}: found {x!r}, expected an integer")
    try:
        found = operator.index(x)
    except TypeError:
        raise TypeError(f"{name}: found {x!r} of the type {type(x).__name__}, expected an integer") from None
    if not least <= found <= most:
        raise ValueError(f"{name}: found {found}, expected {least} to {most}")
    return found


def real(name: str, x: Any) -> float:
    """A number of any real kind: TypeError of another type, of True and of False too, ValueError of NaN."""
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, (numbers.Real, np.number)) and not _like_a_number(x) or isinstance(x, np.complexfloating):
        raise TypeError(f"{name}: found {x!r} of the type {type(x).__name__}, expected a number")
    found = float(x)
    if math.isnan(found):
        raise ValueError(f"{name}: found NaN, expected a number")
    return found


def _like_a_number(x: Any) -> bool:
    return not isinstance(x, (str, bytes)) and hasattr(x, "__float__") and getattr(x, "ndim", 0) == 0


_NUMBERS = (numbers.Real, np.number, np.bool_, Decimal)


def numbers_of(a: NDArray[Any]) -> NDArray[Any]:
    """Objects, such as integers of any length and pandas' nullable numbers, as numbers; the same array where some are none."""
    if not_a_number(a):
        return a
    found = np.array(a.tolist())
    return found.reshape(a.shape) if found.dtype.kind in "biuf" and found.dtype.itemsize <= 8 else a.astype(np.float64)


def not_a_number(a: NDArray[Any]) -> str:
    """The first object of an array that is no number, for an error; empty where all are."""
    if a.dtype.kind == "O":
        for place, x in np.ndenumerate(a):
            if not isinstance(x, _NUMBERS):
                return f": found {x!r:.40} at {list(place)}, expected a number"
    return ""


def truth(name: str, x: Any) -> bool:
    """True or False, also of NumPy, or 1 or 0: TypeError of anything else."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, numbers.Integral) and x in (0, 1):
        return bool(x)
    raise TypeError(f"{name}: found {x!r}, expected True or False")


def text(name: str, x: Any, known: Iterable[str] = ()) -> Optional[bytes]:
    """A name, as the library takes it, or None: TypeError of another type, ValueError of an empty or an unknown one."""
    if x is None:
        return None
    if not isinstance(x, str):
        raise TypeError(f"{name}: found {x!r} of the type {type(x).__name__}, expected a text or None")
    known = list(known)
    if not x or "\0" in x or known and x not in known:
        raise ValueError(f"{name}: found {x!r}, expected " + (f"one of {', '.join(known)}" if known else "a name, or None"))
    return x.encode()


def listed(name: str, x: Any) -> list[Any]:
    """The items of a list, an array or another iterable: TypeError of a text, which is no list of its letters, and of others."""
    if isinstance(x, (str, bytes)):
        raise TypeError(f"{name}: found the text {x!r}, expected a list")
    try:
        return list(x)
    except TypeError:
        raise TypeError(f"{name}: found {x!r} of the type {type(x).__name__}, expected a list") from None


def seconds(name: str, x: Any) -> float:
    """A time, 0 for None: TypeError of another type than a number, ValueError below 0, of 0 and of more than 30 years."""
    if x is None:
        return 0.0
    found = real(name, x)
    if not 0 < found < 1e9:
        raise ValueError(f"{name}: found {x!r}, expected seconds, more than 0, or None")
    return found


Check = Callable[[str, Any], Any]
"""The check of an option's value: of its name and the value, it makes what JSON holds."""


def checked_whole(least: int, most: int) -> Check:
    """The check of an integer."""
    return lambda name, x: whole(name, x, least, most)


def checked_real() -> Check:
    """The check of a finite number."""

    def check(name: str, x: Any) -> float:
        found = real(name, x)
        if math.isinf(found):
            raise ValueError(f"{name}: found {x!r}, expected a finite number")
        return found

    return check


def checked_seconds() -> Check:
    """The check of a time."""
    return seconds


def checked_truth() -> Check:
    """The check of True or False."""
    return truth


def checked_text(*known: str) -> Check:
    """The check of a text, one of those that are known where there are any."""

    def check(name: str, x: Any) -> str:
        return (text(name, x, known) or b"").decode()

    return check


def checked_texts(*known: str) -> Check:
    """The check of a list of texts."""
    one = checked_text(*known)
    return lambda name, x: [one(f"{name}[{k}]", item) for k, item in enumerate(listed(name, x))]
