"""Settings: each is documented, wrong ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from store.settings import Settings, load_settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_each_setting_has_its_line_in_the_documentation(name: str) -> None:
    description = Settings.model_fields[name].description
    assert description
    page = PAGE.read_text(encoding="utf-8").splitlines()
    lines = [line for line in page if line.startswith(f"| `PARLEY_{name.upper()}` |")]
    assert len(lines) == 1
    assert description in lines[0]


def test_the_documentation_names_no_setting_that_is_not_there() -> None:
    named = {line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")}
    assert named == {f"PARLEY_{name.upper()}" for name in Settings.model_fields}


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_PORT", "many")
    with pytest.raises(ValidationError) as failure:
        load_settings()
    assert failure.value.errors()[0]["loc"] == ("port",)


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_TRUSTED_PROXIES", "10.0.0.0/8, ::1")
    assert load_settings().trusted_proxies == ("10.0.0.0/8", "::1")
