"""Models of other packages: dimod's, PyQUBO's and OMMX's, known by their members, so that none of the packages is needed."""

from __future__ import annotations

import math
from typing import Any, Hashable, Iterable, Optional

from ._model import Expression, Model, Relation, Variable


def model_of(given: Any) -> Optional[tuple[Model, dict[Hashable, Variable]]]:
    """A model as coalesce.Model, with its variables by their labels; None of anything else."""
    if hasattr(given, "to_bqm") and hasattr(given, "decode_sample"):  # PyQUBO
        given = given.to_bqm()
    for found, members in ((_of_cqm, ("objective", "constraints", "vartype", "lower_bound")), (_of_ommx, ("decision_variables", "objective", "constraints", "sense")),
                           (_of_bqm, ("linear", "quadratic", "offset", "vartype")), (_of_polynomial, ("items", "variables", "vartype", "degree"))):
        if all(hasattr(given, m) for m in members):
            return found(given)
    return None


def _add(m: Model, label: Hashable, kind: str, low: float = 0, high: float = 1, name: Optional[str] = None) -> Variable:
    name = name or str(label)
    if kind == "BINARY":
        return m.binary(name)
    if kind == "SPIN":
        return m.spin(name)
    if kind == "INTEGER":
        return m.integer(name, math.ceil(low), math.floor(high))
    raise ValueError(f"found the {kind.lower()} variable {label!r}, expected binary variables, spins and integers")


def _sum(x: dict[Hashable, Variable], terms: Iterable[tuple[Iterable[Hashable], Any]]) -> Expression:
    out: dict[tuple[int, ...], Any] = {}
    for labels, c in terms:
        key = tuple(sorted(x[label].number for label in labels))
        out[key] = out.get(key, 0) + c
    return Expression(out)


def _quadratic(q: Any) -> Iterable[tuple[tuple[Hashable, ...], Any]]:
    """The terms of dimod's quadratic models and of the sums of constrained ones."""
    yield (), q.offset
    for label, c in q.linear.items():
        yield (label,), c
    for pair, c in q.quadratic.items():
        yield pair, c


def _of_bqm(bqm: Any) -> tuple[Model, dict[Hashable, Variable]]:
    m = Model()
    x = {label: _add(m, label, bqm.vartype.name) for label in bqm.variables}
    m.minimize(_sum(x, _quadratic(bqm)))
    return m, x


def _of_polynomial(poly: Any) -> tuple[Model, dict[Hashable, Variable]]:
    m = Model()
    x = {label: _add(m, label, poly.vartype.name) for label in sorted(poly.variables, key=str)}
    m.minimize(_sum(x, poly.items()))
    return m, x


def _of_cqm(cqm: Any) -> tuple[Model, dict[Hashable, Variable]]:
    m = Model()
    x = {label: _add(m, label, cqm.vartype(label).name, cqm.lower_bound(label), cqm.upper_bound(label)) for label in cqm.variables}
    m.minimize(_sum(x, _quadratic(cqm.objective)))
    for label, c in cqm.constraints.items():
        if c.lhs.is_soft():
            raise ValueError(f"found the soft constraint {label!r}, expected hard ones")
        _constrain(m, str(label), _sum(x, _quadratic(c.lhs)).terms, c.sense.value, c.rhs)
    return m, x


def _of_ommx(instance: Any) -> tuple[Model, dict[Hashable, Variable]]:
    m = Model()
    x: dict[Hashable, Variable] = {}
    names = set()
    for v in instance.decision_variables:
        name = (v.name or "x") + (str(list(v.subscripts)) if v.subscripts else "" if v.name else str(v.id))
        if name in names:
            name = f"{name} ({v.id})"
        names.add(name)
        x[v.id] = _add(m, v.id, str(v.kind).upper(), v.bound.lower, v.bound.upper, name)
    set_objective = m.maximize if instance.sense == instance.MAXIMIZE else m.minimize
    set_objective(_sum(x, instance.objective.terms.items()))
    for c in instance.constraints:
        _constrain(m, f"{c.name or 'constraint'} ({c.id})", _sum(x, c.function.terms.items()).terms, "==" if c.equality == c.EQUAL_TO_ZERO else "<=", 0)
    return m, x


def _constrain(m: Model, name: str, terms: dict[tuple[int, ...], Any], sense: str, side: Any) -> None:
    bound = side - terms.pop((), 0)
    m.add(Relation(terms, None if sense == "<=" else bound, None if sense == ">=" else bound), name)
