"""What the pages say: in Russian one word for one thing."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*chain.from_iterable((ROOT / "ui" / room).rglob("*.ts*") for room in ("cabinet", "site", "widget"))]
PAGES += [*(ROOT / "api").glob("*_texts.py"), *(ROOT / "api" / "templates").iterdir()]


@pytest.mark.parametrize(("other", "ours"), [("саммари", "резюме"), ("пространств", "раздел")])
def test_a_thing_has_one_russian_name(other: str, ours: str) -> None:
    said = {path: path.read_text(encoding="utf-8").lower() for path in PAGES}
    assert any(ours in text for text in said.values())
    assert [str(path) for path, text in said.items() if other in text] == []
