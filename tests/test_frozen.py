"""Frozen records are what `dataclass(frozen=True, slots=True)` makes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.frozen import frozen


@frozen
class Pair:
    """Two things."""

    left: int
    right: str = "r"


@frozen
class Bag:
    things: list[int] = field(default_factory=list)
    hidden: int = field(default=7, compare=False, repr=False)
    fixed: str = field(default="f", init=False)
    missing: tuple[int, ...] = field(default_factory=tuple, init=False)


@frozen
class Nothing:
    pass


@frozen
class Named:  # noqa: PLW1641 - the hash that it is given
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named)

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True)
class Plain:
    """Two things."""

    left: int
    right: str = "r"


@given(st.integers(), st.text())
def test_it_is_as_a_frozen_dataclass_is(left: int, right: str) -> None:
    ours, theirs = Pair(left, right), Plain(left, right=right)

    assert repr(ours) == repr(theirs).replace("Plain", "Pair")
    assert asdict(ours) == asdict(theirs)
    assert hash(ours) == hash(theirs)
    assert ours == Pair(left, right) != Pair(left, right + "!")
    assert replace(ours, right="x") == Pair(left, "x")
    assert (ours.left, ours.right) == (left, right)


def test_it_tells_the_same_of_its_fields() -> None:
    def told(kind: type) -> list[tuple[object, ...]]:
        return [(f.name, f.type, f.default, f.init) for f in fields(kind)]

    assert told(Pair) == told(Plain)
    assert Pair.__match_args__ == Plain.__match_args__
    assert Pair.__slots__ == Plain.__slots__
    assert Pair.__doc__ == Plain.__doc__


def test_another_class_is_never_equal() -> None:
    assert Pair(1) != Plain(1)
    assert Pair(1) != (1, "r")


def test_each_has_its_own_of_what_is_made_anew() -> None:
    one, other = Bag(), Bag(hidden=8)

    assert one == other
    assert one.things is not other.things
    assert repr(one) == "Bag(things=[], fixed='f', missing=())"
    assert Bag([1]).things == [1]


def test_it_may_be_empty() -> None:
    assert Nothing() == Nothing()
    assert repr(Nothing()) == "Nothing()"
    assert {Nothing(), Nothing()} == {Nothing()}


def test_what_a_class_says_itself_stands() -> None:
    assert Named("a") == Named("b")
    assert repr(Named("a")) == "<a>"
    assert hash(Named("a")) == hash(Named("a")) != hash(Named("b"))


def _set(pair: Pair) -> None:
    pair.left = 2  # type: ignore[misc]


def _new(pair: Pair) -> None:
    pair.other = 2  # type: ignore[attr-defined]


def _delete(pair: Pair) -> None:
    del pair.left  # type: ignore[misc]


@pytest.mark.parametrize("change", [_set, _new, _delete])
def test_it_cannot_be_changed(change: Callable[[Pair], None]) -> None:
    with pytest.raises(FrozenInstanceError, match="Pair"):
        change(Pair(1))


@pytest.mark.parametrize("values", [(), (1, "a", "b")])
def test_too_few_or_too_many_values_are_refused_each_time(values: tuple[object, ...]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError):
            Pair(*values)  # type: ignore[arg-type]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TypeError, match="wrong"):
        Pair(1, wrong=2)  # type: ignore[call-arg]


def test_a_pattern_takes_it_apart() -> None:
    match Pair(1, "x"):
        case Pair(left, right=right):
            assert (left, right) == (1, "x")


def test_it_can_be_copied_and_kept() -> None:
    bag = Bag([1, 2])

    assert pickle.loads(pickle.dumps(bag)) == bag
    assert copy.deepcopy(bag) == bag
    assert copy.deepcopy(bag).things is not bag.things


class Louder(Pair):
    """It has no fields of its own."""

    def told(self) -> str:
        return self.right.upper()


def test_a_class_that_comes_from_it_has_its_fields() -> None:
    louder = replace(Louder(1), right="x")

    assert louder.told() == "X"
    assert asdict(louder) == {"left": 1, "right": "x"}
    assert louder != Pair(1, "x")


def made(cls: Callable[..., object], call: tuple[tuple[object, ...], dict[str, object]]) -> str:
    try:
        return repr(cls(*call[0], **call[1]))
    except TypeError as error:
        return str(error).rpartition("init() ")[2]


CALLS: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((1,), {}),
    ((1, "x"), {}),
    ((1,), {"second": "x", "third": [2]}),
    ((), {"first": 1}),
    ((), {}),
    ((), {"second": "x"}),
    ((1,), {"first": 2}),
    ((1,), {"other": 2}),
    ((1, "x", [], 4, 5), {}),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_first_record_of_a_class_is_made_as_all_others(
    call: tuple[tuple[object, ...], dict[str, object]],
) -> None:
    @frozen
    class Fresh:
        first: int
        second: str = "s"
        third: list[int] = field(default_factory=list)
        fourth: int = field(default=4)

        def __post_init__(self) -> None:
            if self.second == "x":
                object.__setattr__(self, "fourth", 5)

    first = made(Fresh, call)
    later = [made(Fresh, call) for _ in range(20)]
    assert later == [first] * 20
    assert ("(" in first) == (call in CALLS[:4])
