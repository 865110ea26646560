"""Charts that anything can draw, whatever the names are."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from hermes.wire.plot import Bar, bars

SVG = "{http://www.w3.org/2000/svg}"
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=60)


@given(NAMES, st.lists(st.tuples(NAMES, st.lists(st.floats(0, 1e9), min_size=2, max_size=2)), max_size=5))
def test_it_is_svg_and_as_wide_as_it_says(title: str, rows: list[tuple[str, list[float]]]) -> None:
    text = bars(title, ("read", "written"), [Bar(name, tuple(parts), "$1") for name, parts in rows])
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x", 0)) + float(rect.get("width", 0)) <= float(root.get("width", 0)) + 0.1


def test_a_bar_is_as_long_as_its_parts() -> None:
    root = ElementTree.fromstring(
        bars("t", ("a", "b"), [Bar("x", (3.0, 1.0), "4"), Bar("y", (1.0, 1.0), "2")])
    )
    widths = [float(r.get("width", 0)) for r in root.iter(f"{SVG}rect")][3:]
    assert [round(w / widths[1]) for w in widths] == [3, 1, 1, 1]
