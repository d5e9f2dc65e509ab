"""The JSON object of an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional, Union


def number(x: Any) -> Optional[float]:
    """A value of the library's JSON: a number, decimals in a string, or nothing."""
    return None if x is None or x == "" else float(x)


@dataclass(repr=False, eq=False)
class Object:
    """An object of docs/result.schema.json. report: the object. told: the same, or the JSON text of a list of it alone."""

    told: Union[dict[str, Any], bytes]

    @cached_property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.told)[0] if isinstance(self.told, bytes) else self.told
        return found
