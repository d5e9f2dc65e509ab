"""Winner determination of combinatorial auctions."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Hashable, Iterable, Optional, Union

from . import _library as lib
from ._report import Report

Price = Union[int, float, str, Decimal]


@dataclass(repr=False, eq=False)
class AuctionResult(Report):
    """The bids that win. winners: their places in the list, ascending. revenue: what they pay, exactly."""

    winners: list[int]
    revenue: Decimal


def solve_auction(bids: Iterable[tuple[Price, Iterable[Hashable]]], *, device: Union[str, int, None] = None,
                  algorithm: Optional[str] = None, time_limit: Optional[float] = None) -> AuctionResult:
    """The bids to accept so that no good is sold twice and the prices add up to the most.

    bids: pairs of a price and its goods; goods are of any hashable kind. Prices are exact decimals: a float stands for
    the shortest decimals that give it. To let at most one of a bidder's bids win, name a good that they share.
    """
    lines = []
    number_of: dict[Hashable, int] = {}
    for k, (price, goods) in enumerate(bids):
        amount = Decimal(str(price))
        if not amount.is_finite():
            raise lib.CostError(f"bid {k}: found the price {price!r}, expected a number")
        ids = sorted({number_of.setdefault(g, len(number_of)) for g in goods})
        if not ids:
            raise ValueError(f"bid {k}: found no goods")
        lines.append(f"{k} {amount:f} {' '.join(map(str, ids))} #")
    text = "\n".join([f"goods {len(number_of)}", f"bids {len(lines)}", "dummy 0", *lines, ""]).encode()
    p = lib.Auction(size=ctypes.sizeof(lib.Auction), device=lib.device_index(device), text=text, text_size=len(text),
                    time_limit=lib.seconds(time_limit), algorithm=lib.encoded(algorithm))

    def finish(text: str) -> AuctionResult:
        report: dict[str, Any] = json.loads(text, parse_float=str)
        value = Decimal(str(report["value"]))
        report = json.loads(text)
        return AuctionResult(report, [int(w) for w in report.pop("solution")], value)

    result: AuctionResult = lib.solve("auction", p, finish)
    return result
