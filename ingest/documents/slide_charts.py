"""What charts and SmartArt on slides say: a chart's values as a table, a diagram's words as a list."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ingest.documents.parsed import Outline
from ingest.documents.word_styles import number_of
from ingest.documents.xml import below

_MAX_SERIES = 100
_MAX_POINTS = 10_000
_CACHES = ("c:strRef", "c:strCache"), ("c:numRef", "c:numCache"), ("c:strLit",), ("c:numLit",), ("c:multiLvlStrRef",)


def add_chart(root: Element, outline: Outline) -> None:
    """Adds the chart's title and its values, a row a category, from the copy that the presentation keeps of them."""
    title = below(root, "c:chart", "c:title")
    caption = " ".join("".join(part.text or "" for part in title.iter("a:t")).split()) if title is not None else ""
    names: list[str] = []
    values: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter("c:ser"):
        if len(names) >= _MAX_SERIES:
            break
        names.append(" ".join(_points(series.find("c:tx")).values()))
        if not categories:
            found = series.find("c:cat")
            categories = _points(found if found is not None else series.find("c:xVal"))
        found = series.find("c:val")
        values.append(_points(found if found is not None else series.find("c:yVal")))
    places = sorted({place for points in (categories, *values) for place in points})
    rows = [[categories.get(place, ""), *(points.get(place, "") for points in values)] for place in places]
    outline.check_characters(sum(len(cell) for row in rows for cell in row))
    if rows and names:
        outline.table([["", *names], *rows], has_header=any(names), caption=caption)
    else:
        outline.block(caption)


def diagram_texts(root: Element) -> Iterator[str]:
    """The words of a diagram's nodes, in the order of its data."""
    for point in root.iter("dgm:pt"):
        if point.get("type", "node") not in ("node", "asst"):
            continue
        body = point.find("dgm:t")
        text = " ".join("".join(part.text or "" for part in body.iter("a:t")).split()) if body is not None else ""
        if text:
            yield f"- {text}"


def _points(element: Element | None) -> dict[int, str]:
    """The values of a series by their place."""
    if element is None:
        return {}
    points: dict[int, str] = {}
    for names in _CACHES:
        cache = below(element, *names)
        for point in cache.iter("c:pt") if cache is not None else ():
            value = point.find("c:v")
            if len(points) >= _MAX_POINTS:
                break
            if value is not None:
                points.setdefault(number_of(point.get("idx"), 0), " ".join((value.text or "").split()))
        if points:
            break
    return points
