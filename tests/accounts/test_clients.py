"""Clients and their partners, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any, TypeVar

import pytest

from accounts import clients, ledger, partners, provisioning
from accounts.keys import Keyring
from accounts.origins import normal_origin
from store import accounts, audit
from store.database import Database
from store.errors import Conflict, InvalidRequest, NotFound, ParleyError, Unprocessable
from store.ids import new_id
from store.integrations import Integration

KEYRING = Keyring(b"k" * 32)
RACERS = 16
ResultT = TypeVar("ResultT")


@pytest.fixture
def integration(database: Database) -> Integration:
    return make_integration(database, "partner")


def make_integration(database: Database, name: str) -> Integration:
    with database.write() as connection:
        made, _ = partners.create_integration(connection, KEYRING, name=name)
    return made


def provision(
    database: Database, integration: Integration, external_id: str, **values: Any
) -> provisioning.Provisioned:
    with database.write() as connection:
        return provisioning.provision(connection, KEYRING, integration, external_id=external_id, **values)


def at_once(work: Callable[[int], ResultT]) -> list[ResultT | ParleyError]:
    """What each of the racers got, who begin together."""
    barrier = Barrier(RACERS)

    def begin(number: int) -> ResultT | ParleyError:
        barrier.wait()
        try:
            return work(number)
        except ParleyError as error:
            return error

    with ThreadPoolExecutor(RACERS) as pool:
        return list(pool.map(begin, range(RACERS)))


def live_keys(database: Database, tenant_id: str, issuer: str) -> int:
    with database.read() as connection:
        keys = accounts.list_keys(tenant_id, connection)
    return sum(key.revoked_at is None and key.issuer == issuer for key in keys)


@pytest.mark.parametrize("rotate_key", [False, True])
def test_provisioning_at_once_makes_one_client(database: Database, integration: Integration, rotate_key: bool) -> None:
    email = "shop@shop.example"
    done = at_once(lambda _: provision(database, integration, "x", name="Shop", email=email, rotate_key=rotate_key))
    assert all(isinstance(each, provisioning.Provisioned) for each in done), done
    found = [each for each in done if isinstance(each, provisioning.Provisioned)]
    assert sum(each.is_new for each in found) == 1
    assert len({each.tenant.id for each in found}) == 1
    assert sum(each.api_key is not None for each in found) == (RACERS if rotate_key else 1)
    assert live_keys(database, found[0].tenant.id, "integration") == 1


def test_one_email_given_to_many_clients_at_once_gets_to_one(database: Database, integration: Integration) -> None:
    made = at_once(lambda number: provision(database, integration, f"new {number}", email="Same@shop.example"))
    assert [each.code for each in made if isinstance(each, Unprocessable)] == ["email_taken"] * (RACERS - 1)
    for number in range(RACERS):
        provision(database, integration, f"there {number}")
    given = at_once(lambda number: provision(database, integration, f"there {number}", email="other@shop.example"))
    refused = [each for each in given if isinstance(each, Unprocessable)]
    assert [each.code for each in refused] == ["email_taken"] * (RACERS - 1)
    with database.read() as connection:
        emails = [tenant.email for tenant in accounts.list_tenants(connection)]
    assert (emails.count("same@shop.example"), emails.count("other@shop.example")) == (1, 1)
    assert len(emails) == 1 + RACERS, "what was refused made nothing"


def test_rotations_at_once_leave_one_live_key(database: Database, integration: Integration) -> None:
    tenant = provision(database, integration, "x").tenant

    def rotate(number: int) -> str:
        with database.write() as connection:
            act = provisioning.rotate if number % 2 else provisioning.reactivate
            return act(connection, KEYRING, integration, "x")[2]

    assert len(set(map(str, at_once(rotate)))) == RACERS
    assert live_keys(database, tenant.id, "integration") == 1


def test_widget_origins_added_at_once_are_all_there(database: Database, integration: Integration) -> None:
    tenant = provision(database, integration, "x").tenant
    wanted = [f"https://{number}.example" for number in range(RACERS)]
    at_once(lambda number: provision(database, integration, "x", widget_origin=wanted[number]))
    with database.read() as connection:
        found = accounts.get_tenant(tenant.id, connection)
    assert found is not None
    assert sorted(found.widget_origins) == sorted(wanted)


def test_networks_allowed_at_once_are_all_there(database: Database, integration: Integration) -> None:
    def allow(number: int) -> None:
        with database.write() as connection:
            partners.allow_networks(connection, integration.id, [f"10.0.0.{number}"])

    at_once(allow)
    with database.read() as connection:
        assert len(partners.require_integration(connection, integration.id).allowed_networks) == RACERS


def test_the_last_keys_ended_at_once_leave_one(database: Database, integration: Integration) -> None:
    tenant_id = provision(database, integration, "x").tenant.id
    with database.write() as connection:
        for number in range(RACERS - 1):
            clients.add_key(tenant_id, connection, KEYRING, name=str(number))
        keys = accounts.list_keys(tenant_id, connection)

    def end(number: int) -> None:
        with database.write() as connection:
            clients.revoke_key(tenant_id, connection, keys[number].id, keep_last=True)

    refused = [each.code for each in at_once(end) if isinstance(each, Conflict)]
    assert refused == ["last_key"]
    assert live_keys(database, tenant_id, "account") + live_keys(database, tenant_id, "integration") == 1


def test_a_client_begins_with_a_balance_and_its_credit(database: Database, integration: Integration) -> None:
    tenant = provision(database, integration, "x", signup_credit=Decimal("12.345678")).tenant
    with database.read() as connection:
        assert ledger.balance(tenant.id, connection).settled_micro == 12_345_678
        assert tenant.pause_reason is None
        assert [entry.action for entry in audit.list_page(tenant.id, connection, limit=10)[0]] == ["client.created"]


def test_what_fails_leaves_nothing(database: Database, integration: Integration) -> None:
    provision(database, integration, "taken", email="taken@shop.example")
    with pytest.raises(Unprocessable):
        provision(database, integration, "new", email="TAKEN@shop.example")
    with pytest.raises(InvalidRequest):
        provision(database, integration, "new", email="nobody")
    with database.read() as connection:
        assert [tenant.external_id for tenant in accounts.list_tenants(connection)] == ["taken"]
        with pytest.raises(NotFound):
            provisioning.require_client(connection, integration, "new")


def test_external_ids_are_compared_as_they_are(database: Database, integration: Integration) -> None:
    ids = ["a", "A", "a ", " a", "é", "e\u0301", "ß", "ss", "ЖЖ", "жж", "%", "_", "\U0001f989" * 128]
    made = {external_id: provision(database, integration, external_id).tenant.id for external_id in ids}
    assert len(set(made.values())) == len(ids)
    assert {each: provision(database, integration, each).tenant.id for each in ids} == made


@pytest.mark.parametrize("external_id", ["", "x" * 129, "\x00", "a\tb", "\x85", "\ud800"], ids=ascii)
def test_an_external_id_that_cannot_be_is_refused_before_the_database_sees_it(
    database: Database, integration: Integration, external_id: str
) -> None:
    with pytest.raises(InvalidRequest):
        provision(database, integration, external_id)
    with database.read() as connection, pytest.raises(NotFound):
        provisioning.require_client(connection, integration, external_id)


def test_clients_of_no_integration_have_external_ids_of_their_own(database: Database, integration: Integration) -> None:
    provision(database, integration, "x")
    with database.write() as connection:
        own = clients.create_client(connection, KEYRING, external_id="x")
        with pytest.raises(Conflict) as refused:
            clients.create_client(connection, KEYRING, external_id="x")
    assert refused.value.code == "external_id_taken"
    with database.read() as connection:
        assert len(accounts.list_by_external_id(connection, "x")) == 2
        found = accounts.find_client(connection, None, "x")
        assert found is not None
        assert found.id == own.tenant.id


def test_an_email_is_one_mailbox_in_any_case_and_no_longer_than_its_column(database: Database) -> None:
    assert clients.normal_email("Иван@Пример.РФ") == "иван@пример.рф"
    # In lower case this letter is two characters.
    with pytest.raises(InvalidRequest):
        clients.normal_email("İ" * 310 + "@a.example")
    with database.write() as connection:
        clients.create_client(connection, KEYRING, external_id=new_id(), email="Иван@пример.рф")
        with pytest.raises(Conflict) as refused:
            clients.create_client(connection, KEYRING, external_id=new_id(), email="ИВАН@ПРИМЕР.РФ")
    assert refused.value.code == "email_taken"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("HTTPS://Shop.Example:443/", "https://shop.example"),
        ("http://shop.example:8080", "http://shop.example:8080"),
        ("http://localhost:80", "http://localhost"),
        ("http://[2001:DB8::1]:81", "http://[2001:db8::1]:81"),
        ("https://магазин.рф", "https://xn--80aairftm.xn--p1ai"),
        ("http://10.1.2.3", "http://10.1.2.3"),
    ],
)
def test_an_origin_is_kept_as_browsers_send_it(text: str, origin: str) -> None:
    assert normal_origin(text, param="origin") == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "*",
        "shop.example",
        "//shop.example",
        "https://",
        "https://*.shop.example",
        "https://shop.example/a",
        "https://shop.example?",
        "https://shop.example#",
        "https://shop.example:",
        "https://shop.example:0",
        "https://shop.example:x",
        "https://a@shop.example",
        "https://shop..example",
        "https://-shop.example",
        "https://shop.example.",
        "https://shop .example",
        "https://shop.example\\a",
        "https://shop.example\n",
        "javascript:alert(1)",
        "file:///etc",
        "https://[::1",
        "https://[shop]",
        "https://" + "x" * 64 + ".example",
        "https://" + "x." * 200,
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        normal_origin(text, param="origin")
    assert refused.value.param == "origin"


@pytest.mark.parametrize(
    ("address", "networks", "allowed"),
    [
        ("10.1.2.3", ["10.1.2.3"], True),
        ("10.1.2.3", ["10.1.2.99/24"], True),
        ("::ffff:10.1.2.3", ["10.1.2.0/24"], True),
        ("10.1.2.3", ["::ffff:10.1.2.0/120"], True),
        ("10.1.2.3", ["::/0"], False),
        ("2001:db8::1", ["2001:DB8::/32"], True),
        ("2001:db8::1", ["0.0.0.0/0"], False),
        ("2001:db9::1", ["2001:db8::/32"], False),
        ("fe80::1%eth0", ["fe80::/10"], True),
        ("10.1.2.3", [], False),
        (None, ["0.0.0.0/0", "::/0"], False),
        ("", ["0.0.0.0/0"], False),
        ("testclient", ["0.0.0.0/0"], False),
        ("010.1.2.3", ["0.0.0.0/0"], False),
    ],
)
def test_an_address_is_allowed_by_its_networks_alone(address: str | None, networks: list[str], allowed: bool) -> None:
    assert partners.is_allowed(address, [partners.normal_network(each) for each in networks]) is allowed


@pytest.mark.parametrize("text", ["", "*", "localhost", "10.0.0.0/33", "10.0.0", "1", "::/129", "10.0.0.1-10.0.0.9"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        partners.normal_network(text)
