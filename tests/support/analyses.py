"""Conversations that tests post for analysis, and waiting until it has ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx2

from store.ids import new_id
from tests.support.server import JOB_S, Account

_PATH = "/public/v1/communications"
STAGES = ("summary", "qc", "memory")

PEOPLE = [
    {"id": "emp-1", "name": "Ольга Сомова", "role": "support", "label": "SPEAKER_01"},
    {"id": "cl-1", "name": "Иван Рогов", "role": "client", "label": "SPEAKER_00"},
]
"""As a caller sends them who knows which voice is whose."""
UNBOUND = [{name: value for name, value in person.items() if name != "label"} for person in PEOPLE]

GOOD = (
    ("SPEAKER_01", "Добрый день, компания «Вектор», меня зовут Ольга. Разговор записывается."),
    ("SPEAKER_00", "Здравствуйте, это Иван Рогов. У меня со вчерашнего дня не работает интернет, договор 4512."),
    ("SPEAKER_01", "Иван, понимаю. Назовите, пожалуйста, дату рождения, чтобы я вас нашла."),
    ("SPEAKER_00", "Двенадцатое мая восемьдесят пятого. Мы живём в Казани, у нас роутер «Кит 3»."),
    ("SPEAKER_01", "Спасибо, нашла договор 4512. Лампочка на роутере горит зелёным или красным?"),
    ("SPEAKER_00", "Красным мигает."),
    ("SPEAKER_01", "Значит, обрыв на линии. Мастер приедет завтра до двенадцати, адрес улица Садовая, 5, верно?"),
    ("SPEAKER_00", "Да, верно."),
    ("SPEAKER_01", "Я перезвоню вам завтра в 15:00, чтобы проверить. Спасибо за звонок, Иван, до свидания!"),
)
BAD = (
    ("SPEAKER_01", "Да, слушаю."),
    ("SPEAKER_00", "У меня второй день нет интернета. Вы там вообще работаете, бездельники?"),
    ("SPEAKER_01", "Сами вы бездельник. Пишите мне в личный ватсап, 8 900 000-12-34, сейчас не до вас."),
    ("SPEAKER_00", "Вы издеваетесь? Тогда я отключаюсь от вас."),
    ("SPEAKER_01", "Ну и отключайтесь."),
)


def content(turns: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"label": label, "text": text} for label, text in turns]


def body(turns: tuple[tuple[str, str], ...] = GOOD, **values: Any) -> dict[str, Any]:
    given = {
        "kind": "call",
        "channel_type": "phone",
        "direction": "in",
        "language": "ru",
        "request_record_id": new_id(),
        "occured_at": "2026-03-10T11:20:00+03:00",
        "speakers": PEOPLE,
        "content": content(turns),
        "summary": True,
    }
    return given | values


def send(account: Account, turns: tuple[tuple[str, str], ...] = GOOD, **values: Any) -> str:
    """The id of the communication that was posted for analysis."""
    return _accepted(account.post(_PATH, json=body(turns, **values)))


def send_at_last(account: Account) -> str:
    """As a careful client does where something goes away now and then."""
    return _accepted(account.post_at_last(_PATH, json=body()))


def _accepted(answer: httpx2.Response) -> str:
    assert answer.status_code == 202, answer.text
    communication_id: str = answer.json()["communication_id"]
    return communication_id


def read(account: Account, communication_id: str) -> dict[str, Any]:
    details: dict[str, Any] = account.get(f"/public/v1/communications?id={communication_id}").json()
    return details


def statuses(details: dict[str, Any]) -> dict[str, str]:
    return {stage: details[f"{stage}_generation_status"] for stage in STAGES}


def analysed(account: Account, communication_id: str, *, wait_s: float = JOB_S) -> dict[str, Any]:
    """The details once every stage has ended, and nothing is held for them any more."""
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        details = read(account, communication_id)
        in_work = {"pending", "processing"} & set(statuses(details).values())
        if not in_work and account.balance()["held_rub"] == "0.00":
            return details
        time.sleep(0.1)
    raise AssertionError(f"the analysis did not end:\n{account.server.log()[-4000:]}")


def assert_analysed_once(account: Account, sent: Sequence[str]) -> None:
    """Each of the account's communications has each of its stages done and paid for once."""
    for communication_id in sent:
        assert set(statuses(analysed(account, communication_id)).values()) == {"success"}
    debits = Counter(
        # In the order of their times, which is another where a clock was set back.
        (item["source_ref"], *sorted((line["product"], line["quantity"]) for line in item["lines"]))
        for item in account.debits()
    )
    assert debits == Counter((each, *sorted((stage, 1) for stage in STAGES)) for each in sent)
