"""Random searches over many accounts that each keep a secret: nobody finds another's, however it is asked for."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.soak.conftest import Size
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.soak

TENANTS = 20
TOPICS = (
    "Доставка по городу стоит 350 рублей, а заказ от 5000 рублей мы везём бесплатно.",
    "Гарантия на технику составляет 24 месяца со дня продажи.",
    "The warehouse is open from nine to five, and closed on Sundays.",
    "Refunds are paid within ten days after the goods came back.",
)
SYLLABLES = ("zor", "bim", "kal", "vex", "tun", "dra", "pli", "gow", "sha", "mek")


@dataclass
class Keeper:
    """An account with a document that holds its secret, in an open space and in one that only its first key may see."""

    account: Account
    secret: str
    spaces: list[str]
    guest: dict[str, str]

    @property
    def limited_secret(self) -> str:
        return self.secret + "inner"


def make_keeper(server: RunningServer, number: int, chance: random.Random) -> Keeper:
    account = server.new_client(f"client-{number}")
    secret = "".join(chance.sample(SYLLABLES, 4)) + f"q{number}"
    key_id = account.get("/public/v1/keys").json()["items"][0]["id"]
    guest = account.post("/public/v1/keys", json={"name": "guest"}).json()["api_key"]
    keeper = Keeper(account, secret, [], {"Authorization": f"Bearer {guest}"})
    for limited in (False, True):
        body: dict[str, Any] = {"name": "Space"}
        if limited:
            body["access"] = {"key_ids": [key_id]}
        space_id = str(account.post("/public/v1/kb/spaces", json=body).json()["id"])
        keeper.spaces.append(space_id)
        word = keeper.limited_secret if limited else secret
        text = "\n\n".join((*TOPICS, f"The password of the safe is {word}. Пароль от сейфа: {word}."))
        assert account.add_document(space_id, text.encode(), "safe.txt")["status"] == "success"
    return keeper


def question(keepers: list[Keeper], chance: random.Random) -> str:
    other = chance.choice(keepers)
    return chance.choice(
        [
            other.secret,
            other.limited_secret,
            f"What is the password {other.secret[: chance.randint(3, 12)]}",
            "пароль от сейфа",
            "password of the safe",
            " ".join(chance.choices(TOPICS, k=2)),
            chance.choice(TOPICS).split(".")[0] + " " + other.secret,
        ]
    )


def test_nobody_finds_another_s_document(own_server: RunningServer, size: Size, chance: random.Random) -> None:
    keepers = [make_keeper(own_server, number, chance) for number in range(TENANTS)]
    every_space = [space for keeper in keepers for space in keeper.spaces]
    own_found = limited_found = 0
    with httpx2.Client(base_url=own_server.url, timeout=60) as client:
        for _ in range(size.searches):
            asker, as_guest = chance.choice(keepers), chance.random() < 0.3
            headers = asker.guest if as_guest else asker.account.headers
            body: dict[str, Any] = {"query": question(keepers, chance), "limit": chance.choice([1, 10, 50])}
            if chance.random() < 0.3:
                body["space_ids"] = chance.sample(every_space, 5)
            if chance.random() < 0.5:
                answer = client.post("/public/v1/search", json=body, headers=headers)
            else:
                call = {"name": "search_documents", "arguments": body}
                rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                answer = client.post("/mcp", json=rpc, headers=headers)
            assert answer.status_code == 200, answer.text
            for keeper in keepers:
                if keeper is not asker:
                    assert keeper.secret not in answer.text, body
            assert not (as_guest and asker.limited_secret in answer.text), body
            own_found += asker.secret in answer.text
            limited_found += asker.limited_secret in answer.text
    # Else nothing would have been proven.
    assert own_found > size.searches / 10
    assert limited_found > size.searches / 20
