"""The audit's page has words, in both languages, for all that the server notes, and a filter that finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from store.audit import ACTIONS

TEXTS = Path(__file__).parents[2] / "ui/cabinet/pages/settings/audit-texts.ts"


def table(name: str, language: str) -> dict[str, str]:
    """A table of `audit-texts.ts`, which Biome keeps in this form."""
    of_name = re.split(rf"const {name}: .*= \{{\n", TEXTS.read_text())[1].split("\n};\n")[0]
    (of_language,) = re.findall(rf"^  {language}: \{{\n(.*?)^  \}},", of_name, re.DOTALL | re.MULTILINE)
    found = re.findall(r'^    "?([\w.,]+)"?:\s+"(.+)",$', of_language, re.MULTILINE)
    assert len(found) == len(dict(found)) > 0
    return dict(found)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_action_has_its_words(language: str) -> None:
    assert set(table("names", language)) == set(ACTIONS)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_action_is_found_by_one_filter_and_no_filter_finds_nothing(language: str) -> None:
    kinds = [kind for kinds in table("kinds", language) for kind in kinds.split(",")]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) == {action.split(".")[0] for action in ACTIONS}
