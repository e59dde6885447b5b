"""What the tests search: documents with facts that stand in one of them alone, and kept communications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from store import communications
from store.communications import ContentItem
from tests.ingest.documents.files import pdf_of_lines
from tests.support.server import Account

DELIVERY = """Доставка кофе

Курьер привозит кофе на Левый берег по вторникам и пятницам. Доставка в пригород стоит 1 100 рублей.
Заказы от 12 килограммов доставляются бесплатно. Интервал доставки можно выбрать в личном кабинете.
"""
FILTERS = """# Вода и фильтры

## Замена картриджа

Картридж фильтра для воды меняют каждые четыре месяца. Новый картридж стоит 2 340 рублей.

## Жёсткость

Тест-полоску опускают в воду на одну секунду и ждут минуту.
"""
RETURNS = """<!doctype html><html><head><title>Returns</title></head><body><nav>Home Shop</nav>
<h1>Returns</h1><p>A coffee machine can be returned within fourteen days if its seal is unbroken.</p>
<h2>Refunds</h2><p>The refund arrives on the same bank card within five working days.</p></body></html>
"""
PARKING = """Parking at the warehouse

Visitors park behind gate seven. The barrier opens with the code from the delivery note.
"""
HANDBOOK_QUESTION = "What torque do the boiler bolts need?"
HANDBOOK_ANSWER = "23 newton metres"


def handbook_pdf() -> bytes:
    """Two pages; the torque of the boiler bolts stands on the second."""
    pages: Sequence[Sequence[str | tuple[str, int]]] = (
        (
            ("Field engineer handbook", 20),
            "This handbook is for engineers who repair espresso machines at the client's office.",
            "Before each visit charge the tablet and take two spare gaskets with you.",
            "At the door show your pass, say whom you come to, and ask where the machine stands.",
            "After the visit let the client sign on the tablet; a photograph of the clean machine",
            "belongs to every report, and the report belongs to the same day as the visit.",
        ),
        (
            ("Assembling the boiler", 16),
            "The boiler bolts need a torque of 23 newton metres, tightened crosswise in two rounds.",
            "Wait until the boiler is cold before you loosen them again. A new seal is greased",
            "thinly on its outer edge alone, and an old one is never put in a second time.",
        ),
    )
    return pdf_of_lines(pages, title="Field engineer handbook")


def keep_communication(
    account: Account,
    *turns: tuple[str, str],
    kind: str = "call",
    channel_type: str = "phone",
    direction: str | None = "in",
    at: str = "2026-02-01T10:00:00+00:00",
) -> str:
    """Stores a communication of (label, text) turns, as jobs and imports do; it stands in no index. Its id."""
    occured_at = datetime.fromisoformat(at)
    item = {"call": "audio_utterance", "chat": "chat_message", "email": "email_message"}[kind]
    content = [
        ContentItem(kind=item, text=text, label=label, start_ms=number * 1000, end_ms=number * 1000 + 900)
        for number, (label, text) in enumerate(turns)
    ]
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id,
            connection,
            kind=kind,
            channel_type=channel_type,
            occured_at=occured_at,
            title=f"A kept {kind}",
            direction=direction,
            is_closed=True,
        )
        communications.replace_content(account.tenant_id, connection, row.id, content)
    return row.id
