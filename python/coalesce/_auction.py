"""Winner determination of combinatorial auctions."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Hashable, Iterable, Optional, Union, cast

from . import _library as lib
from ._progress import Progress, Told, run
from ._report import Report

Price = Union[int, float, str, Decimal]


Bid = Union[tuple[Price, Iterable[Hashable]], tuple[Price, Iterable[Hashable], Hashable]]


@dataclass(frozen=True)
class Payment:
    """What a winning bidder pays. bids: the places of its winning bids. value: what it bid for them. pays: what it pays."""

    bids: list[int]
    value: Decimal
    pays: Decimal


@dataclass(repr=False, eq=False)
class AuctionResult(Report):
    """The bids that win. winners: their places in the list, ascending. revenue: the sum of their prices, exactly.
    payments: of each winning bidder, in the order of its first winning bid, where a rule was given and the winners are
    proven to be the best; None else, and notes say why."""

    winners: list[int]
    revenue: Decimal
    payments: Optional[list[Payment]]


def solve_auction(bids: Iterable[Bid], *, payments: Optional[str] = None, device: Union[str, int, None] = None,
                  algorithm: Optional[str] = None, time_limit: Optional[float] = None, progress: Progress = None) -> AuctionResult:
    """The bids to accept so that no good is sold twice and the prices add up to the most.

    bids: pairs of a price and its goods, or triples with a bidder, of whose bids at most one wins; goods and bidders are
    of any hashable kind. Prices are exact decimals: a float stands for the shortest decimals that give it.
    payments: what winners pay: "first", the prices that they bid; "vcg", what the others lose by a winner's presence;
    "core", the least that no coalition of bidders would beat, nearest to "vcg" (Day and Cramton 2012).
    progress: called with an Incumbent; one that returns True ends the solve. True shows a bar of tqdm.
    """
    lines: list[tuple[int, Decimal, list[int], Optional[int]]] = []
    number_of: dict[Hashable, int] = {}
    bidder_of: dict[Hashable, int] = {}
    for k, bid in enumerate(bids):
        if len(bid) not in (2, 3):
            raise ValueError(f"bid {k}: found {len(bid)} items, expected a price, goods and perhaps a bidder")
        price, goods = bid[0], bid[1]
        amount = Decimal(str(price))
        if not amount.is_finite():
            raise lib.CostError(f"bid {k}: found the price {price!r}, expected a number")
        ids = sorted({number_of.setdefault(g, len(number_of)) for g in goods})
        if not ids:
            raise ValueError(f"bid {k}: found no goods")
        bidder = cast("tuple[Any, Any, Hashable]", bid)[2] if len(bid) == 3 else None
        lines.append((k, amount, ids, None if len(bid) == 2 else bidder_of.setdefault(bidder, len(bidder_of))))
    rows = [f"{k} {amount:f} {' '.join(map(str, ids))}{'' if owner is None else f' {len(number_of) + owner}'} #" for k, amount, ids, owner in lines]
    text = "\n".join([f"goods {len(number_of)}", f"bids {len(rows)}", f"dummy {len(bidder_of)}", *rows, ""]).encode()
    p = lib.Auction(size=ctypes.sizeof(lib.Auction), device=lib.device_index(device), text=text, text_size=len(text),
                    time_limit=lib.seconds(time_limit), algorithm=lib.encoded(algorithm), payments=lib.encoded(payments))

    def finish(report: dict[str, Any]) -> AuctionResult:
        value = Decimal(report["value"])  # a text: every decimal
        paid = report["payments"]
        pay = None if paid is None else [Payment(w["bids"], Decimal(w["value"]), Decimal(w["pays"])) for w in paid["winners"]]
        return AuctionResult(report, [int(w) for w in report.pop("solution")], value, pay)

    result: AuctionResult = run("auction", p, finish, Told(progress, time_limit, keep=True))
    return result
