"""The Integration API: a partner makes its clients, gives them keys, pauses them and takes them up again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from accounts import ledger, partners, provisioning, tariffs
from api.fields import UtcTime
from api.http import Body, Call, NoInput, Operation, bearer_token, json_response
from api.services import Services
from store.accounts import Tenant
from store.database import Connection
from store.integrations import Integration

ExternalId = Annotated[str, Field(min_length=1, max_length=128)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Email = Annotated[str, Field(min_length=3, max_length=320, json_schema_extra={"format": "email"})]
Origin = Annotated[str, Field(min_length=1, max_length=300, examples=["https://shop.example"])]


class ClientBody(Body):
    """`external_id` is the partner's own id of the client, without control characters. What is left out or null stays
    as it was."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    external_id: ExternalId
    name: Name | None = None
    email: Email | None = None
    widget_origin_override: Origin | None = None
    rotate_key: bool = False


class TariffRate(BaseModel):
    option_id: str
    product: str
    unit: str
    name: str
    amount_rub: float
    llm_model: str | None


class Tariff(BaseModel):
    version_id: str
    label: str
    rates: list[TariffRate]


class NewClient(BaseModel):
    """A creation. `api_key` is shown this once."""

    created: Literal[True] = True
    tenant_id: str
    client_id: str
    external_id: str
    is_active: bool
    balance_rub: float
    api_key: str
    api_key_prefix: str
    tariff: Tariff


class ClientStatus(BaseModel):
    tenant_id: str
    client_id: str
    external_id: str
    name: str
    email: str | None
    is_active: bool
    balance_rub: float
    api_key_prefix: str
    tariff: Tariff
    created_at: UtcTime
    updated_at: UtcTime


class UpdatedClient(ClientStatus):
    """An update. `api_key` is there only where rotate_key made one, and shown this once."""

    created: Literal[False] = False
    api_key: str | None = None


class NewKey(BaseModel):
    """`api_key` is shown this once."""

    tenant_id: str
    client_id: str
    external_id: str
    api_key: str
    api_key_prefix: str


class ClientState(BaseModel):
    tenant_id: str
    client_id: str
    external_id: str
    is_active: bool


class ReactivatedClient(ClientState):
    """`api_key` is shown this once."""

    api_key: str
    api_key_prefix: str


def admit_integration(_operation: Operation, services: Services, request: Request) -> Integration:
    """Admits partners by their secret, as a Bearer alone, and by the address that they call from."""
    secret = bearer_token(request, allow_header=False)
    address = request.client.host if request.client else None
    return partners.authenticate(services.database, services.keyring, secret, address)


def put_client(call: Call[NoInput, ClientBody]) -> Response:
    body, services = call.body, call.services
    with services.database.write() as connection:
        done = provisioning.provision(
            connection,
            services.keyring,
            call.integration,
            external_id=body.external_id,
            name=body.name,
            email=body.email,
            widget_origin=body.widget_origin_override,
            rotate_key=body.rotate_key,
            signup_credit=services.settings.signup_credit,
        )
        answer: NewClient | dict[str, Any]
        if done.is_new:
            assert done.api_key is not None
            answer = NewClient(**_ids(done.tenant), **_money(connection, done.tenant), api_key=done.api_key)
        else:
            updated = UpdatedClient(**_status(connection, done.tenant), api_key=done.api_key)
            answer = updated.model_dump(mode="json", exclude={"api_key"} if done.api_key is None else None)
        status = 201 if done.is_new else 200
        call.keep(connection, answer, status)
    return json_response(answer, status)


def read_client(call: Call[NoInput, NoInput]) -> ClientStatus:
    with call.services.database.read() as connection:
        tenant = provisioning.require_client(connection, call.integration, _external_id(call))
        return ClientStatus(**_status(connection, tenant))


def rotate_client_key(call: Call[NoInput, NoInput]) -> NewKey:
    with call.services.database.write() as connection:
        tenant, key, text = provisioning.rotate(connection, call.services.keyring, call.integration, _external_id(call))
        ids = _ids(tenant)
        del ids["is_active"]
        answer = NewKey(**ids, api_key=text, api_key_prefix=key.prefix)
        call.keep(connection, answer, 200)
    return answer


def deactivate_client(call: Call[NoInput, NoInput]) -> ClientState:
    with call.services.database.write() as connection:
        tenant = provisioning.deactivate(connection, call.integration, _external_id(call))
        answer = ClientState(**_ids(tenant))
        call.keep(connection, answer, 200)
    return answer


def reactivate_client(call: Call[NoInput, NoInput]) -> ReactivatedClient:
    with call.services.database.write() as connection:
        tenant, key, text = provisioning.reactivate(
            connection, call.services.keyring, call.integration, _external_id(call)
        )
        answer = ReactivatedClient(**_ids(tenant), api_key=text, api_key_prefix=key.prefix)
        call.keep(connection, answer, 200)
    return answer


def _external_id(call: Call[Any, Any]) -> str:
    external_id: str = call.request.path_params["external_id"]
    return external_id


def _ids(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant_id": tenant.id,
        "client_id": tenant.client_id,
        "external_id": tenant.external_id,
        "is_active": tenant.is_active,
    }


def _money(connection: Connection, tenant: Tenant) -> dict[str, Any]:
    """The fields that creation and status have besides the ids; amounts are exact to the millionth."""
    tariff = tariffs.tariff_of(connection, tenant)
    rates = [
        TariffRate(
            option_id=rate.option_id,
            product=rate.product,
            unit=rate.unit,
            name=rate.name,
            amount_rub=float(ledger.roubles(rate.amount_micro)),
            llm_model=rate.llm_model,
        )
        for rate in tariff.rates
    ]
    return {
        "balance_rub": float(ledger.roubles(ledger.balance(tenant.id, connection).settled_micro)),
        "api_key_prefix": provisioning.shown_key_prefix(connection, tenant),
        "tariff": Tariff(version_id=tariff.version_id, label=tariff.label, rates=rates),
    }


def _status(connection: Connection, tenant: Tenant) -> dict[str, Any]:
    return {
        **_ids(tenant),
        **_money(connection, tenant),
        "name": tenant.name,
        "email": tenant.email,
        "created_at": tenant.created_at,
        "updated_at": tenant.updated_at,
    }


_CLIENTS = "/v1/clients"
# An external id is any text, slashes among it: what follows it tells the operation.
_CLIENT = "/v1/clients/{external_id:path}"


def _operation(method: str, path: str, handler: Any, summary: str, response: Any, **options: Any) -> Operation:
    return Operation(
        method, path, handler, summary, response, admit=admit_integration, idempotent=method == "POST", **options
    )


OPERATIONS = (
    _operation(
        "POST",
        _CLIENTS,
        put_client,
        "Create or update a client",
        NewClient,
        body=ClientBody,
        status=201,
        other_answers={200: UpdatedClient},
        errors=(401, 403, 409, 413, 422),
    ),
    _operation("GET", _CLIENT, read_client, "Read a client", ClientStatus, errors=(401, 403, 404)),
    _operation(
        "POST",
        _CLIENT + "/api-key/rotate",
        rotate_client_key,
        "Replace a client's key",
        NewKey,
        errors=(401, 403, 404, 409, 422),
    ),
    _operation(
        "POST",
        _CLIENT + "/deactivate",
        deactivate_client,
        "Pause a client",
        ClientState,
        errors=(401, 403, 404, 409, 422),
    ),
    _operation(
        "POST",
        _CLIENT + "/reactivate",
        reactivate_client,
        "Take a client up again, with a new key",
        ReactivatedClient,
        errors=(401, 403, 404, 409, 422),
    ),
)
