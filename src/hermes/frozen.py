"""Frozen records: what `dataclass(frozen=True, slots=True)` makes, made quickly.

`dataclass` writes and compiles six functions for each class. That takes 0.4 ms, and for all classes together
a third of the time of a short command. Here what all records do alike is written once, and a constructor is
compiled for a class of many. `replace`, `fields`, `asdict` and patterns work as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from itertools import count
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
_NO_SLOT = ("__dict__", "__weakref__")
"""What a class has in place of slots."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """The class as a frozen record, equal and hashed by value; it comes from no other record.

    What it says itself of its equality, hash and display stands.
    """
    own = {name: thing for name, thing in vars(cls).items() if name not in _NO_SLOT}
    names = tuple(cls.__annotations__)
    given = {name: own.pop(name, MISSING) for name in names}
    compared = tuple(n for n in names if not isinstance(given[n], Field) or given[n].compare)
    taken = tuple(n for n in names if not isinstance(given[n], Field) or given[n].init)
    equal, hashed = _by_value(compared)
    if own.get("__hash__") is None:
        own["__hash__"] = hashed
    alike = {"__eq__": equal, "__match_args__": taken, **_ALIKE}
    kind: Any = type(cls)
    made = kind(cls.__name__, cls.__bases__, {**alike, **own, "__slots__": names})
    made.__qualname__ = cls.__qualname__
    made.__init__ = _at_first(made, given)
    made.__dataclass_fields__ = _Fields(made, given)
    return made  # type: ignore[no-any-return]


def _by_value(names: tuple[str, ...]) -> tuple[Callable[..., object], Callable[..., int]]:
    value: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return value(self) == value(other)

    return equal, lambda self: hash(value(self))


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__qualname__}.{name} is frozen; make another with replace()")


def _getstate(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in self.__slots__)


def _setstate(self: Any, state: tuple[object, ...]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_ALIKE: Mapping[str, Callable[..., object]] = {
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}


class _Fields:
    """The fields as `dataclasses` describes them; they are made when someone asks."""

    def __init__(self, cls: Any, given: Mapping[str, object]) -> None:
        self._cls, self._given = cls, given

    def __get__(self, record: object, owner: object) -> Mapping[str, Field[Any]]:
        cls, defaults = self._cls, {n: value for n, value in self._given.items() if value is not MISSING}
        # Without a text of its own it would be given its signature for one, which takes a millisecond.
        words = {"__annotations__": cls.__annotations__, "__module__": cls.__module__, "__doc__": " "}
        like: Any = type(cls.__name__, (), {**defaults, **words})
        plain = dataclass(init=False, repr=False, eq=False, match_args=False)(like)
        cls.__dataclass_fields__ = plain.__dataclass_fields__
        return cls.__dataclass_fields__  # type: ignore[no-any-return]


_FEW = 8
"""How many records of a class are made before its constructor is compiled, which takes as long as forty."""


def _at_first(cls: Any, given: Mapping[str, object]) -> Callable[..., None]:
    """A constructor for the first records that makes way for the one it compiles."""
    made = count(1)

    def init(self: object, *values: object, **named: object) -> None:
        taken = _taken(given, values, named) if next(made) <= _FEW else None
        if taken is None:
            cls.__init__ = _constructor(cls, given)
            cls.__init__(self, *values, **named)
            return
        for name, value in taken.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            cls.__post_init__(self)

    return init


def _taken(
    given: Mapping[str, Any], values: tuple[object, ...], named: Mapping[str, object]
) -> dict[str, object] | None:
    """A value for each field; None where the call is wrong or a field is not given when a record is made."""
    taken = dict(zip(given, values, strict=False))
    if len(taken) < len(values) or not taken.keys().isdisjoint(named) or not named.keys() <= given.keys():
        return None
    taken |= named
    for name, first in given.items():
        if isinstance(first, Field) and not first.init:
            return None
        if name not in taken:
            taken[name] = _default(first)
            if taken[name] is MISSING:
                return None
    return taken


def _default(first: Any) -> object:
    if not isinstance(first, Field):
        return first
    return first.default if first.default_factory is MISSING else first.default_factory()


def _constructor(cls: Any, given: Mapping[str, Any]) -> Callable[..., None]:
    """What takes a value for each field and puts it into its slot."""
    scope: dict[str, Any] = {"_MISSING": MISSING}
    takes, lines = ["self"], []
    for i, (name, first) in enumerate(given.items()):
        told = first if isinstance(first, Field) else field(default=first)
        default, make = told.default, told.default_factory
        scope |= {f"_default{i}": default, f"_make{i}": make, f"_set{i}": getattr(cls, name).__set__}
        value = name if told.init else f"_default{i}"
        if make is not MISSING:
            value = f"_make{i}() if {name} is _MISSING else {name}" if told.init else f"_make{i}()"
            scope[f"_default{i}"] = MISSING
        if told.init:
            takes.append(f"{name}=_default{i}" if default is not make else name)
        if told.init or default is not make:
            lines.append(f"_set{i}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def init({', '.join(takes)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, scope)  # noqa: S102 - made of the names of fields
    return scope["init"]  # type: ignore[no-any-return]
