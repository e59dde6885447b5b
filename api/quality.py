"""What an account has quality control look at: its scenarios and their criteria, in its own order and words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.http import Body, Call, NoInput, Operation, Query
from ingest.analysis.catalogs import CRITERIA, SCENARIOS
from ingest.analysis.scenarios import CriterionSetting, QualitySettings, ScenarioSetting, quality_settings
from store import accounts
from store import quality_settings as stored_settings
from store.accounts import Tenant
from store.database import Connection
from store.errors import InvalidRequest

NAME_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 2000
MOST_NAMES = 50
MOST_CONTACTS = 200
MOST_NOTICES = 50

ValueType = Literal["binary", "numeric"]


def _trimmed(text: str | None) -> str | None:
    return (text or "").strip() or None


def _said(texts: list[str]) -> list[str]:
    """Each once, without those that say nothing."""
    return list(dict.fromkeys(text.strip() for text in texts if text.strip()))


Code = Annotated[str, Field(min_length=1, max_length=64)]
Name = Annotated[str, Field(max_length=NAME_CHARACTERS)]
Description = Annotated[str, Field(max_length=DESCRIPTION_CHARACTERS)]
Names = Annotated[list[Name], Field(max_length=MOST_NAMES), AfterValidator(_said)]
Contacts = Annotated[list[Name], Field(max_length=MOST_CONTACTS), AfterValidator(_said)]
Notices = Annotated[list[Description], Field(max_length=MOST_NOTICES), AfterValidator(_said)]


class QcCriterionSetting(BaseModel):
    """`description` says what is asked. `value_type` belongs to the code."""

    code: str
    name: str
    value_type: ValueType
    description: str
    enabled: bool


class QcScenarioSetting(BaseModel):
    code: str
    name: str
    description: str
    enabled: bool
    criteria: list[QcCriterionSetting]


class QcCompany(BaseModel):
    """What the company calls itself, its official phones, mail addresses and sites, and the notices that have to be
    given word for word or in substance."""

    names: list[str]
    contacts: list[str]
    notices: list[str]


class QcScenarios(BaseModel):
    """All twelve scenarios in the account's order: of several that fit equally well the first one counts."""

    items: list[QcScenarioSetting]
    company: QcCompany


class QcScenariosQuery(Query):
    """`defaults`: the catalog's own, as an account has them that changed nothing, in place of the account's."""

    defaults: bool = False


class _Given(Body):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QcCriterionBody(_Given):
    """Name and description that are left out, null or empty are the catalog's."""

    code: Code
    name: Annotated[Name | None, AfterValidator(_trimmed)] = None
    value_type: ValueType | None = None
    description: Annotated[Description | None, AfterValidator(_trimmed)] = None
    enabled: bool = True


class QcScenarioBody(_Given):
    """`criteria` are those of the scenario in their order, any of the catalog's; left out: the catalog's own."""

    code: Code
    name: Annotated[Name | None, AfterValidator(_trimmed)] = None
    description: Annotated[Description | None, AfterValidator(_trimmed)] = None
    enabled: bool = True
    criteria: Annotated[list[QcCriterionBody], Field(max_length=len(CRITERIA))] | None = None


class QcCompanyBody(_Given):
    """Without `names` it is the account's name."""

    names: Annotated[list[Name], Field(max_length=MOST_NAMES), AfterValidator(_said)] = Field(default_factory=list)
    contacts: Annotated[list[Name], Field(max_length=MOST_CONTACTS), AfterValidator(_said)] = Field(
        default_factory=list
    )
    notices: Annotated[list[Description], Field(max_length=MOST_NOTICES), AfterValidator(_said)] = Field(
        default_factory=list
    )


class QcScenariosBody(_Given):
    """Replaces the whole. A scenario that is left out is disabled and goes to the end."""

    items: Annotated[list[QcScenarioBody], Field(max_length=len(SCENARIOS))]
    company: QcCompanyBody = QcCompanyBody()


def read_qc_scenarios(call: Call[QcScenariosQuery, NoInput]) -> QcScenarios:
    if call.query.defaults:
        tenant = call.principal.tenant
        return _answer(quality_settings(None, language=tenant.language, tenant_name=tenant.name))
    with call.services.database.read() as connection:
        return _read(call.tenant_id, connection)


def replace_qc_scenarios(call: Call[NoInput, QcScenariosBody]) -> QcScenarios:
    body = call.body
    _check(body)
    with call.services.database.write() as connection:
        tenant = accounts.get_tenant(call.tenant_id, connection, lock=True)
        assert tenant is not None, "a caller has an account"
        stored_settings.put(call.tenant_id, connection, _stored(body, tenant))
        enabled = [item.code for item in body.items if item.enabled]
        call.note(connection, "qc_scenarios.changed", details={"enabled": enabled})
        return _read(call.tenant_id, connection)


def settings_of(body: QcScenariosBody, tenant: Tenant) -> QualitySettings:
    """What quality control would look at were this saved. Raises InvalidRequest naming the place."""
    _check(body)
    return quality_settings(_stored(body, tenant), language=tenant.language, tenant_name=tenant.name)


def _check(body: QcScenariosBody) -> None:
    """Raises InvalidRequest naming the place."""
    _check_codes(body.items, "items", SCENARIOS)
    for at, item in enumerate(body.items):
        criteria = item.criteria or ()
        _check_codes(criteria, f"items.{at}.criteria", CRITERIA)
        for number, criterion in enumerate(criteria):
            if criterion.value_type not in (None, CRITERIA[criterion.code].value_type):
                param = f"items.{at}.criteria.{number}.value_type"
                raise InvalidRequest(f"{param}: cannot be changed.", param=param)


def _check_codes(given: Iterable[QcScenarioBody | QcCriterionBody], place: str, catalog: Iterable[str]) -> None:
    seen: set[str] = set()
    for at, each in enumerate(given):
        param = f"{place}.{at}.code"
        if each.code not in catalog:
            raise InvalidRequest(f"{param}: there is none of this code.", param=param)
        if each.code in seen:
            raise InvalidRequest(f"{param}: is given twice.", param=param)
        seen.add(each.code)


def _stored(body: QcScenariosBody, tenant: Tenant) -> dict[str, Any]:
    """Words that are the catalog's are not stored, so that they follow the account's language; likewise its name."""
    names = body.company.names
    return {
        "items": [_stored_scenario(item) for item in body.items],
        "company": {
            "names": [] if names == [tenant.name] else names,
            "contacts": body.company.contacts,
            "notices": body.company.notices,
        },
    }


def _stored_scenario(item: QcScenarioBody) -> dict[str, Any]:
    scenario = SCENARIOS[item.code]
    values: dict[str, Any] = {
        "code": item.code,
        "name": _own_words(item.name, scenario.ru, scenario.en),
        "description": _own_words(item.description, scenario.is_ru, scenario.is_en),
        "enabled": item.enabled,
    }
    if item.criteria is not None:
        values["criteria"] = [_stored_criterion(each) for each in item.criteria]
    return values


def _stored_criterion(each: QcCriterionBody) -> dict[str, Any]:
    criterion = CRITERIA[each.code]
    return {
        "code": each.code,
        "name": _own_words(each.name, criterion.ru, criterion.en),
        "description": _own_words(each.description, criterion.asks_ru, criterion.asks_en),
        "enabled": each.enabled,
    }


def _own_words(text: str | None, *catalog: str) -> str | None:
    return None if text in catalog else text


def _read(tenant_id: str, connection: Connection) -> QcScenarios:
    tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None, "a caller has an account"
    stored = stored_settings.get(tenant_id, connection)
    return _answer(quality_settings(stored, language=tenant.language, tenant_name=tenant.name))


def _answer(found: QualitySettings) -> QcScenarios:
    company = found.company
    return QcScenarios(
        items=[_scenario(scenario) for scenario in found.scenarios],
        company=QcCompany(names=list(company.names), contacts=list(company.contacts), notices=list(company.notices)),
    )


def _scenario(scenario: ScenarioSetting) -> QcScenarioSetting:
    return QcScenarioSetting(
        code=scenario.code,
        name=scenario.name,
        description=scenario.description,
        enabled=scenario.enabled,
        criteria=[_criterion(criterion) for criterion in scenario.criteria],
    )


def _criterion(criterion: CriterionSetting) -> QcCriterionSetting:
    return QcCriterionSetting(
        code=criterion.code,
        name=criterion.name,
        value_type=CRITERIA[criterion.code].value_type,
        description=criterion.description,
        enabled=criterion.enabled,
    )


_PATH = "/v1/qc/scenarios"
OPERATIONS = (
    Operation(
        "GET",
        _PATH,
        read_qc_scenarios,
        "Read the scenarios of quality control",
        QcScenarios,
        query=QcScenariosQuery,
        errors=(400, 401),
    ),
    Operation(
        "PUT",
        _PATH,
        replace_qc_scenarios,
        "Replace the scenarios of quality control",
        QcScenarios,
        body=QcScenariosBody,
        errors=(400, 401, 403),
        paused=False,
        audited=("qc_scenarios.changed",),
    ),
)
