"""Models of binary variables, spins and bounded integers, with constraints."""

from __future__ import annotations

import json
import numbers
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

import numpy as np

from . import _library as lib
from ._arguments import whole
from ._keywords import encode, keywords, start as begin_solve
from ._options import MODEL, ModelOptions
from ._progress import Progress, Told
from ._report import Report
from ._results import ModelFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

Number = Union[int, float, Decimal]

_MOST = 1 << 40  # the largest bound of an integer


def _decimal(x: Any) -> str:
    """A number with all its digits."""
    if isinstance(x, numbers.Integral):
        return str(int(x))
    text = str(x) if isinstance(x, Decimal) else repr(float(x))
    if not Decimal(text).is_finite():
        raise lib.CostError(f"found the number {x!r}, expected a finite one")
    return text


class Expression:
    """A sum of products of variables: terms holds the coefficient of each, by the numbers of its variables."""

    __slots__ = ("terms",)
    __hash__ = object.__hash__

    def __init__(self, terms: dict[tuple[int, ...], Any]) -> None:
        self.terms = terms

    @staticmethod
    def of(x: Any) -> Optional[Expression]:
        """An expression, or a number as one; None of anything else."""
        if isinstance(x, Expression):
            return x
        if isinstance(x, (numbers.Real, Decimal, np.number)) and not isinstance(x, bool):
            return Expression({(): x} if x else {})
        return None

    def _plus(self, other: Any, sign: int) -> Any:
        more = Expression.of(other)
        if more is None:
            return NotImplemented
        terms = dict(self.terms)
        for key, c in more.terms.items():
            terms[key] = terms[key] + sign * c if key in terms else sign * c
        return Expression(terms)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __neg__(self) -> Expression:
        return Expression({key: -c for key, c in self.terms.items()})

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __mul__(self, other: Any) -> Any:
        by = Expression.of(other)
        if by is None:
            return NotImplemented
        terms: dict[tuple[int, ...], Any] = {}
        for a, c in self.terms.items():
            for b, d in by.terms.items():
                key = tuple(sorted(a + b))
                terms[key] = terms.get(key, 0) + c * d
        return Expression(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other) if isinstance(other, (numbers.Real, np.number)) else NotImplemented

    def __pow__(self, exponent: int) -> Expression:
        power = Expression({(): 1})
        for _ in range(whole("exponent", exponent, 0, 100)):
            power = power * self
        return power

    def _relation(self, other: Any, low: bool, high: bool) -> Any:
        difference = self._plus(other, -1)
        if difference is NotImplemented:
            return NotImplemented
        terms = dict(difference.terms)
        bound = -terms.pop((), 0)
        return Relation(terms, bound if low else None, bound if high else None)

    def __le__(self, other: Any) -> Any:
        return self._relation(other, False, True)

    def __ge__(self, other: Any) -> Any:
        return self._relation(other, True, False)

    def __eq__(self, other: Any) -> Any:
        return self._relation(other, True, True)


@dataclass
class Relation:
    """A sum between bounds, for Model.add. low, high: None where there is none."""

    terms: dict[tuple[int, ...], Any]
    low: Optional[Number]
    high: Optional[Number]

    def __bool__(self) -> bool:
        raise TypeError("found a constraint where True or False is expected: give it to Model.add")


class Variable(Expression):
    """A variable of a model."""

    __slots__ = ("name", "number")

    def __init__(self, name: str, number: int) -> None:
        super().__init__({(number,): 1})
        self.name, self.number = name, number

    def __repr__(self) -> str:
        return self.name


class Model:
    """Variables, an objective of products of any degree, and linear constraints.

    Operators make expressions of variables: m.minimize(3 * x + x * y), m.add(x + y <= 1, name="one").
    """

    def __init__(self) -> None:
        self.variables: list[Variable] = []
        self._kinds: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._sense = "minimize"
        self._objective = Expression({})
        self._constraints: list[dict[str, Any]] = []

    def _variable(self, name: str, kind: str, **bounds: int) -> Variable:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name: found {name!r}, expected a text")
        if name in self._names:
            raise ValueError(f"name: found {name!r} again, expected each name once")
        self._names.add(name)
        self._kinds.append({"name": name, "kind": kind, **bounds})
        self.variables.append(Variable(name, len(self.variables)))
        return self.variables[-1]

    def binary(self, name: str) -> Variable:
        """A variable of 0 and 1."""
        return self._variable(name, "binary")

    def spin(self, name: str) -> Variable:
        """A variable of -1 and +1."""
        return self._variable(name, "spin")

    def integer(self, name: str, low: int, high: int) -> Variable:
        """A variable of the whole numbers from low to high."""
        return self._variable(name, "integer", low=whole("low", low, -_MOST, _MOST), high=whole("high", high, -_MOST, _MOST))

    def minimize(self, objective: Any) -> None:
        """Make an expression the objective, to be as small as can be."""
        self._set(objective, "minimize")

    def maximize(self, objective: Any) -> None:
        """Make an expression the objective, to be as large as can be."""
        self._set(objective, "maximize")

    def _set(self, objective: Any, sense: str) -> None:
        found = Expression.of(objective)
        if found is None:
            raise TypeError(f"objective: found {objective!r} of the type {type(objective).__name__}, expected an expression of variables")
        self._objective, self._sense = found, sense

    def add(self, constraint: Relation, name: str = "") -> None:
        """Add a linear constraint, such as x + y <= 1."""
        if not isinstance(constraint, Relation):
            raise TypeError(f"constraint: found {constraint!r}, expected a comparison such as x + y <= 1")
        if any(len(key) > 1 for key in constraint.terms):
            raise ValueError("constraint: found a product of variables, expected a linear sum")
        self._constraints.append({"name": name, "terms": self._terms(constraint.terms),
                                  "low": None if constraint.low is None else _decimal(constraint.low), "high": None if constraint.high is None else _decimal(constraint.high)})

    def _terms(self, terms: Mapping[tuple[int, ...], Any]) -> list[list[Any]]:
        if any(key and key[-1] >= len(self.variables) for key in terms):
            raise ValueError("found a variable of another model")
        return [[_decimal(c), *key] for key, c in terms.items() if c]

    def to_json(self) -> str:
        """The model in the JSON that `coalesce solve model` reads."""
        return json.dumps({"sense": self._sense, "variables": self._kinds, "objective": self._terms(self._objective.terms), "constraints": self._constraints})

    def solve(self, **options: Any) -> ModelResult:
        """solve_model of this model."""
        result: ModelResult = solve_model(self, **options)
        return result


@dataclass(repr=False, eq=False)
class ModelResult(Report, ModelFields):
    """An answer to a model. values: the value of each variable by its name; result[x] is that of variable x, or of the variable of a name.
    by_label: the values by the labels of another package's model, such as OMMX's numbers. history: (seconds, value) at each improvement."""

    values: dict[str, int]
    by_label: dict[Any, int]

    def __getitem__(self, variable: Union[Variable, str]) -> int:
        return self.values[variable.name if isinstance(variable, Variable) else variable]

    @property
    def history(self) -> list[tuple[float, float]]:
        """The seconds after which each better solution was found, and its value."""
        return [(h["seconds"], float(h["value"])) for h in self.report["history"]]


@keywords(ModelOptions)
def solve_model(model: Any, *, start: Optional[Mapping[Any, int]] = None, device: Union[str, int, None] = None, progress: Progress = None,
                **options: Unpack[ModelOptions]) -> ModelResult:
    """The best solution of a model that is found in time; small models are proven.

    model: a Model, the text of a file in LP, MPS, QPLIB or JSON, or a model of another package: dimod's BinaryQuadraticModel,
    ConstrainedQuadraticModel and BinaryPolynomial, an Instance of OMMX, a compiled model of PyQUBO.
    start: values to begin with, by variable, name or label. fix: texts such as "north=0".
    One-hot groups and cardinalities are kept by the search's moves; weights of other constraints are its own. Where no feasible solution is
    found in time, feasible is False and values break some constraints. Raises InfeasibleError where there is none.
    progress: called with an Incumbent; one that returns True ends the solve. True shows a bar of tqdm.
    """
    labels: Optional[dict[Any, Variable]] = None
    if not isinstance(model, (Model, str)):
        from ._convert import model_of

        found = model_of(model)
        if found is None:
            raise TypeError(f"model: found {model!r} of the type {type(model).__name__}, expected a Model or the text of a file")
        model, labels = found
        start = None if start is None else {labels.get(label, label): value for label, value in start.items()}
    text = np.frombuffer((model if isinstance(model, str) else model.to_json()).encode(), np.uint8)
    begin = None if start is None else json.dumps({"assignment": dict(_pairs(start))})
    given = encode(MODEL, options, device=lib.device_name(device), start=begin)

    def finish(report: dict[str, Any]) -> ModelResult:
        values = {name: int(x) for name, x in report.pop("assignment").items()}
        return ModelResult(report, values, dict(values) if labels is None else {label: values[x.name] for label, x in labels.items()} if values else {})

    result: ModelResult = begin_solve("model", given, {"text": text}, finish, Told(progress, options.get("time_limit") or (None if options.get("work") else 10.0)), False)
    return result


def _pairs(start: Mapping[Any, int]) -> Iterable[tuple[str, int]]:
    for variable, value in start.items():
        name = variable.name if isinstance(variable, Variable) else variable
        yield name, whole(f"start[{name!r}]", value, -_MOST, _MOST)
