"""Winner determination of combinatorial auctions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Hashable, Iterable, Mapping, Optional, Union, cast

import numpy as np

from . import _library as lib
from ._arguments import listed, truth, whole
from ._keywords import encode, keywords, start as begin_solve
from ._options import AUCTION, AuctionOptions
from ._progress import Progress, Told
from ._report import Report
from ._results import AuctionFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

Price = Union[int, float, str, Decimal]

Goods = Union[Iterable[Hashable], Mapping[Hashable, int]]

Bid = Union[tuple[Price, Goods], tuple[Price, Goods, Hashable]]


# An auction whose JSON has at most so many bytes, some ten bids, is solved in less than a millisecond: it has no history to keep.
_DIRECT = 1 << 10


@dataclass(frozen=True)
class Payment:
    """What a winning bidder pays. bids: the places of its winning bids. value: what it bid for them. pays: what it pays."""

    bids: list[int]
    value: Decimal
    pays: Decimal


@dataclass(frozen=True)
class RankedAllocation:
    """One of the k best allocations. value: the sum of its prices, with the reserves that are kept. winners: the places of its bids, ascending."""

    value: Decimal
    winners: list[int]


@dataclass(repr=False, eq=False)
class AuctionResult(Report, AuctionFields):
    """The bids that win. winners: their places in the list, ascending. revenue: the sum of their prices, exactly;
    the value counts the reserves that are kept, too. kept: the goods of each reserve that the seller keeps. payments: of
    each winning bidder, in the order of its first winning bid, where a rule was given and the winners are proven to be the
    best; None else, and notes say why. best: the allocations of k_best, the best first."""

    winners: list[int]
    revenue: Decimal
    kept: list[list[Hashable]]
    payments: Optional[list[Payment]]

    @property
    def best(self) -> list[RankedAllocation]:
        """The allocations of k_best, the best first."""
        return [RankedAllocation(Decimal(x["value"]), sorted(x["solution"])) for x in self.report.get("best", [])]

    @property
    def complete(self) -> bool:
        """Whether there are no allocations but those in best."""
        return bool(self.report.get("complete", False))


@keywords(AuctionOptions)
def solve_auction(bids: Iterable[Bid], *, most: Optional[Mapping[Hashable, int]] = None, reserves: Iterable[tuple[Price, Iterable[Hashable]]] = (),
                  sell_all: bool = False, units: Union[int, Mapping[Hashable, int], None] = None, start: Optional[Iterable[int]] = None, device: Union[str, int, None] = None, progress: Progress = None,
                  **options: Unpack[AuctionOptions]) -> AuctionResult:
    """The bids to accept so that no good is sold twice and the prices add up to the most.

    bids: pairs of a price and its goods, a list or a dict of the units of each, or triples with a bidder, of whose bids at most one wins; goods and bidders are
    of any hashable kind. Prices are exact decimals: a float stands for the shortest decimals that give it.
    most: how many of its bids a bidder may win, where that is not one.
    reserves: pairs of a price and its goods, which the seller keeps unless bids pay at least so much.
    units: how many there are of each good, one number or a dict, which leaves others at 1.
    minimize: buy: prices are costs, and the bids of the least costs win that together have all units of each good, or, with sell_all, just as many. value is their cost.
    sell_all: every good is sold or kept. Raises InfeasibleError where the bids and reserves do not allow that.
    start: bids that win together, by their places in the list, to begin branch and cut with, such as the winners of an earlier result.
    payments: what winners pay: "first", the prices that they bid; "vcg", what the others lose by a winner's presence;
    "core", the least that no coalition of bidders would beat, nearest to "vcg" (Day and Cramton 2012).
    k_best: so many allocations in the result's best, the best first: none is missing between two of them.
    After time_limit the best bids so far are the answer, not proven.
    progress: called with an Incumbent; one that returns True ends the solve. True shows a bar of tqdm.
    Raises ValueError of a bid without goods, with a good twice or of other than two or three items, TypeError of goods
    that are a text, which is no list of its letters, CostError of a price that is not a number.
    """
    number_of: dict[Hashable, int] = {}
    bidders: dict[Hashable, dict[str, Any]] = {}
    alone: list[dict[str, Any]] = []
    limits: dict[Hashable, int] = {} if most is None else _limits(most)
    offers = listed("bids", bids)
    for k, bid in enumerate(offers):
        if isinstance(bid, Mapping):
            raise TypeError(f"bid {k}: found {bid!r}, expected a price, goods and perhaps a bidder, in this order")
        if len(listed(f"bid {k}", bid)) not in (2, 3):
            raise ValueError(f"bid {k}: found {len(bid)} items, expected a price, goods and perhaps a bidder")
        entry: dict[str, Any] = {"bid": k, **_bundle(f"bid {k}", bid[0], bid[1], number_of)}
        if len(bid) == 2:
            alone.append(entry)
            continue
        name = _label(f"bid {k}: the bidder", cast("tuple[Any, Any, Hashable]", bid)[2])
        if name not in bidders:
            bidders[name] = {"name": f"bidder {len(bidders)}", "bids": []}
        if name in limits:
            bidders[name]["most"] = limits[name]
        else:
            entry["xor"] = [bidders[name]["name"]]
        bidders[name]["bids"].append(entry)
    for name in limits:
        if name not in bidders:
            raise ValueError(f"most: found the bidder {name!r}, expected one who bids")
    kept = []
    for k, reserve in enumerate(listed("reserves", reserves)):
        if isinstance(reserve, Mapping) or len(listed(f"reserve {k}", reserve)) != 2:
            raise ValueError(f"reserve {k}: found {reserve!r}, expected a price and goods")
        kept.append(_bundle(f"reserve {k}", reserve[0], reserve[1], number_of))
    sell_all = truth("sell_all", sell_all)
    count: Any = None
    if units is not None:
        each = isinstance(units, Mapping)
        count = [1 if each else whole("units", units, 0, lib.MOST)] * len(number_of)
        for good, n in units.items() if isinstance(units, Mapping) else ():
            if good not in number_of:
                raise ValueError(f"units: found the good {good!r}, expected one of the bids")
            count[number_of[good]] = whole(f"units[{good!r}]", n, 0, lib.MOST)
    amounts = {} if count is None else {"units": count}
    text = np.frombuffer(json.dumps({"goods": len(number_of), **amounts, "free_disposal": not sell_all, "reserves": kept, "bidders": list(bidders.values()), "bids": alone}).encode(), np.uint8)
    begin = None if start is None else " ".join(str(whole("start", place, 0, len(offers) - 1)) for place in listed("start", start))
    given = encode(AUCTION, options, device=lib.device_name(device), start=begin)
    labels = list(number_of)

    def finish(report: dict[str, Any]) -> AuctionResult:
        held = report["certificate"].get("kept", [])
        value = Decimal(report["value"]) - sum((Decimal(reserve["price"]) for reserve in held), Decimal(0))  # texts: every decimal
        paid = report["payments"]
        pay = None if paid is None else [Payment(w["bids"], Decimal(w["value"]), Decimal(w["pays"])) for w in paid["winners"]]
        keeps = [[labels[g] for g in reserve["goods"]] for reserve in held]
        return AuctionResult(report, sorted(int(w) for w in report.pop("solution")), value, keeps, pay)

    small = len(text) <= _DIRECT
    result: AuctionResult = begin_solve("auction", given, {"text": text}, finish, Told(progress, options.get("time_limit"), keep=not small), small)
    return result


def _bundle(what: str, price: Price, goods: Goods, number_of: dict[Hashable, int]) -> dict[str, Any]:
    """A price and the numbers of its goods, in the words of the library's JSON."""
    try:
        amount = Decimal(str(price))
    except ArithmeticError:  # no decimal
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise lib.CostError(f"{what}: found the price {price!r}, expected a number")
    ids: dict[int, None] = {}
    for good in listed(f"{what}: the goods", goods):
        number = number_of.setdefault(_label(f"{what}: a good", good), len(number_of))
        if number in ids:
            raise ValueError(f"{what}: found the good {good!r} twice, expected each once")
        ids[number] = None
    if not ids:
        raise ValueError(f"{what}: found no goods")
    if isinstance(goods, Mapping):
        quantities = {number_of[good]: whole(f"{what}: the units of {good!r}", n, 1, lib.MOST) for good, n in goods.items()}
        return {"price": f"{amount:f}", "goods": [str(g) for g in sorted(ids)], "quantities": [quantities[g] for g in sorted(ids)]}
    return {"price": f"{amount:f}", "goods": [str(g) for g in sorted(ids)]}


def _label(what: str, x: Any) -> Hashable:
    """A good or a bidder: None and NaN, which stand for what is missing, are none."""
    if x is None or isinstance(x, float) and x != x:
        raise ValueError(f"{what}: found {x!r}, expected a name or another label")
    try:
        hash(x)
    except TypeError:
        raise TypeError(f"{what}: found {x!r} of the type {type(x).__name__}, expected a name or another label that is hashable") from None
    return cast(Hashable, x)


def _limits(most: Any) -> dict[Hashable, int]:
    """How many bids of each bidder may win."""
    if not isinstance(most, Mapping):
        raise TypeError(f"most: found {most!r}, expected a dict of bidders")
    return {name: whole(f"most[{name!r}]", count, 0, lib.MOST) for name, count in most.items()}
