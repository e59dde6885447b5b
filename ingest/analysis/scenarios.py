"""What quality control of an account looks at: its scenarios in their order, the criteria of each, its own words.

An account that changed nothing has the catalog's. What it stores is read leniently: a code that left the catalog is
left out, one that is new there is added at the end, switched off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.analysis.catalogs import CRITERIA, SCENARIOS, Criterion, Scenario
from ingest.analysis.conversation import Company


@dataclass(frozen=True, slots=True)
class CriterionSetting:
    """`description` says what is asked; `name` is for people."""

    code: str
    name: str
    description: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ScenarioSetting:
    code: str
    name: str
    description: str
    enabled: bool
    criteria: tuple[CriterionSetting, ...]

    @property
    def asked(self) -> tuple[CriterionSetting, ...]:
        """The criteria that are judged, in their order."""
        return tuple(criterion for criterion in self.criteria if criterion.enabled)


@dataclass(frozen=True, slots=True)
class QualitySettings:
    """All twelve scenarios, in the account's order."""

    scenarios: tuple[ScenarioSetting, ...]
    company: Company

    def choose(self, ranked: Sequence[tuple[str, float]]) -> ScenarioSetting | None:
        """The best ranked scenario that is switched on; of equal ones the account's first. None where none is on."""
        score = dict(ranked)
        on = [scenario for scenario in self.scenarios if scenario.enabled and scenario.code in score]
        return max(on, key=lambda scenario: score[scenario.code], default=None)


def quality_settings(stored: Mapping[str, Any] | None, *, language: str, tenant_name: str) -> QualitySettings:
    """The account's settings out of what it stored, None for nothing; names and descriptions that it did not word
    itself are the catalog's, in the account's language."""
    kept = [row for row in (stored or {}).get("items", ()) if row["code"] in SCENARIOS]
    given = [_scenario(SCENARIOS[row["code"]], row, language) for row in kept]
    codes = {scenario.code for scenario in given}
    rest = [
        _scenario(scenario, None if stored is None else {"enabled": False}, language)
        for code, scenario in SCENARIOS.items()
        if code not in codes
    ]
    company = (stored or {}).get("company") or {}
    return QualitySettings(
        scenarios=(*given, *rest),
        company=Company(
            names=tuple(company.get("names") or ()) or (tenant_name,),
            contacts=tuple(company.get("contacts") or ()),
            notices=tuple(company.get("notices") or ()),
        ),
    )


def _scenario(scenario: Scenario, row: Mapping[str, Any] | None, language: str) -> ScenarioSetting:
    values = row or {}
    criteria = values.get("criteria")
    if criteria is None:
        criteria = [{"code": code} for code in scenario.criteria]
    return ScenarioSetting(
        code=scenario.code,
        name=values.get("name") or scenario.label(language),
        description=values.get("description") or scenario.meaning(language),
        enabled=bool(values.get("enabled", True)),
        criteria=tuple(
            _criterion(CRITERIA[each["code"]], each, language) for each in criteria if each["code"] in CRITERIA
        ),
    )


def _criterion(criterion: Criterion, row: Mapping[str, Any], language: str) -> CriterionSetting:
    return CriterionSetting(
        code=criterion.code,
        name=row.get("name") or criterion.label(language),
        description=row.get("description") or criterion.asks(language),
        enabled=bool(row.get("enabled", True)),
    )
