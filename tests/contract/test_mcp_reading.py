"""What stands in a resource: a conversation, a document or a person, in parts that fit, with what is quoted marked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from rag.chunking import Section, chunk_sections
from store import analysis, communications, knowledge
from store.analysis import CriterionResult, NewItem
from store.communications import ContentItem
from store.database import now
from store.ids import new_id
from store.knowledge import StoredChunk
from tests.contract.material import keep_communication
from tests.contract.mcp_resources import (
    HOSTILE,
    NOT_FOUND,
    add_person,
    ask,
    listed,
    plain,
    quoted,
    read,
    read_parts,
    remember,
)
from tests.support.server import Account, RunningServer
from tests.support.stored_documents import add_document


@pytest.fixture
def english(new_account: Callable[..., Account]) -> Account:
    return new_account(language="en", time_zone="Asia/Yekaterinburg")


def test_a_part_that_is_behind_the_end_is_not_found(account: Account) -> None:
    call = keep_communication(account, ("A", "one"), ("A", "two"))
    assert "> two" in read(account, f"parley://communications/{call}?from=1")
    for behind in ("2", "999999999", "1.999999999"):
        error = ask(account, "resources/read", uri=f"parley://communications/{call}?from={behind}")["error"]
        assert error["code"] == NOT_FOUND


def test_a_conversation_is_read_with_its_card(english: Account) -> None:
    call = keep_communication(english, ("SPEAKER_00", "Hello"), ("SPEAKER_01", "Hi"), ("SPEAKER_02", "Hm"))
    client = add_person(english, "Ann\nLee", **{call: "SPEAKER_00"})
    add_person(english, "Bob", "support", **{call: None})
    with english.server.database.write() as connection:
        analysis.put_summary(
            english.tenant_id,
            connection,
            call,
            text="They greeted each other.",
            category="support",
            items=[
                NewItem("criteria", "A router", "product"),
                NewItem("commitment", "I will call back", meta={"deadline": "2026-02-03T15:00:00+05:00"}),
            ],
        )
        analysis.put_qc(
            english.tenant_id,
            connection,
            call,
            scenario_code="support",
            score_pct=75.0,
            comment=None,
            status="success",
            criteria=[CriterionResult("greeting", "binary", True)],
        )
    text = read(english, f"parley://communications/{call}")
    for line in (
        "# Call",
        f"- {english.server.url}/cabinet/communications/{call}",
        "- time: 2026-02-01T15:00:00+05:00",
        "- channel: phone, in",
        "- category: Support",
        "- quality score: 75 % (support)",
        "by 2026-02-03T15:00:00+05:00\n> I will call back",
        "> product: A router",
        "> They greeted each other.",
        f"P1 client, parley://people/{client}\n> Ann\n> Lee",
        "[0] 0:00:00 P1 client\n> Hello",
        "[1] 0:00:01 SPEAKER_01\n> Hi",
    ):
        assert line in text, line
    english.request("PATCH", "/public/v1/settings", json={"language": "ru"})
    assert "# Звонок" in read(english, f"parley://communications/{call}")


def test_hostile_text_stays_in_its_quotation(english: Account) -> None:
    """Who forges the marks, other turns or the server's own words is quoted line by line like everybody."""
    turns = (("SPEAKER_00", HOSTILE), (HOSTILE[:60], "x"), ("SPEAKER_00", "bye"))
    call = keep_communication(english, *turns)
    person = add_person(english, HOSTILE[:190], **{call: "SPEAKER_00"})
    remember(english, call, person, HOSTILE)
    with english.server.database.write() as connection:
        communications.update(english.tenant_id, connection, call, title=HOSTILE[:290])
        promise = NewItem("commitment", HOSTILE, meta={"deadline": HOSTILE})
        items = [promise, NewItem("criteria", HOSTILE, HOSTILE[:60])]
        analysis.put_summary(
            english.tenant_id, connection, call, text=HOSTILE, user_summary=HOSTILE, category="sales", items=items
        )
    document = add_document(english.server.database, english.tenant_id, HOSTILE, HOSTILE[:290])
    for kind, id_ in (("communications", call), ("documents", document.id), ("people", person)):
        text = read(english, f"parley://{kind}/{id_}")
        assert text.splitlines() == text.split("\n")[:-1]
        for word in ("All good", "end of quotation", "[7]", "System", "server's", "```", "</quote>", "evil.example"):
            assert word not in plain(text), (kind, word)
        assert "evil.example" in quoted(text)
    for resource in listed(english):
        for field in ("name", "title", "description"):
            assert len(resource[field].splitlines()) == 1
            assert len(resource[field]) <= 200


def test_a_call_of_six_hours_is_read_in_parts_that_end_between_turns(english: Account) -> None:
    texts = [f"Turn {number}: " + "слово 12 " * (number % 12) for number in range(4500)]
    call = keep_communication(english, *((f"SPEAKER_0{number % 2}", text) for number, text in enumerate(texts)))
    parts = read_parts(english, f"parley://communications/{call}")
    assert len(parts) > 5
    assert all(part.startswith("# Call (continued)\n") for part in parts[1:])
    turns = [line for part in parts for line in quoted(part).split("\n") if line.startswith("Turn ")]
    assert turns == [text.rstrip() for text in texts]


@pytest.mark.parametrize("text", ["слово " * 15_000, "7" * 40_000, "word\n" * 30_000, "🙂" * 60_000])
def test_a_turn_that_fills_an_answer_alone_goes_on_within(english: Account, text: str) -> None:
    mail = keep_communication(english, ("A", text), ("B", "the end"), kind="email", channel_type="email")
    parts = read_parts(english, f"parley://communications/{mail}")
    assert len(parts) > 1
    pieces = [part.split("## Text", 1)[1] for part in parts]
    assert "".join("".join(quoted(piece).split()) for piece in pieces) == "".join(text.split()) + "theend"


def test_a_document_is_read_once_though_its_passages_overlap(english: Account) -> None:
    text = " ".join(f"Sentence {number} says what is done by whom on which day." for number in range(2000))
    passages = chunk_sections([Section(text, (), 1, 0)])
    assert any(one.end > two.start for one, two in pairwise(passages))
    document = add_document(english.server.database, english.tenant_id, "x", "Long")
    rows = [StoredChunk(new_id(), each.index, each.text, [], 1, each.start, each.end) for each in passages]
    with english.server.database.write() as connection:
        knowledge.put_chunks(english.tenant_id, connection, document.id, document.run, rows)
    parts = read_parts(english, f"parley://documents/{document.id}")
    assert len(parts) > 1
    assert all("updated: 20" not in part for part in parts[1:])
    shown = " ".join(quoted(part.split("## Text", 1)[1]) for part in parts)
    assert " ".join(shown.split()) == " ".join(text.split())
    assert f"[{rows[-1].idx}] page 1\n> " in parts[-1]


def test_a_profile_has_the_latest_contacts_and_all_that_is_remembered(english: Account) -> None:
    calls = [keep_communication(english, ("A", "x"), at=f"2026-01-{day:02}T10:00:00Z") for day in range(1, 15)]
    person = add_person(english, "Ann Lee", **dict.fromkeys(calls, "A"))
    with english.server.database.write() as connection:
        promise = NewItem("commitment", "We send the invoice", meta={"deadline": "2026-01-20"})
        analysis.put_summary(
            english.tenant_id, connection, calls[-1], text="About an invoice.", category="billing", items=[promise]
        )
    facts = [f"Fact {number}: " + "она живёт в Казани " * 12 for number in range(300)]
    remember(english, calls[0], person, *facts)
    parts = read_parts(english, f"parley://people/{person}")
    assert len(parts) > 1
    first = parts[0]
    contacts = [line for line in plain(first).split("\n") if " call (" in line]
    assert len(contacts) == 10
    assert contacts[0].startswith("2026-01-14T15:00:00+05:00 call (phone, in, Billing), parley://communications/")
    assert "> About an invoice." in first
    assert "Promised by 2026-01-20:\n> We send the invoice" in first
    shown = [line for part in parts for line in quoted(part).split("\n") if line.startswith("Fact ")]
    assert sorted(shown) == sorted(fact.strip() for fact in facts)
    assert f"from parley://communications/{calls[0]}" in first


def test_turns_without_a_voice_or_a_text_are_read_too(english: Account, server: RunningServer) -> None:
    call = keep_communication(english, ("A", "x"), kind="chat", channel_type="telegram")
    items = [
        ContentItem(kind="chat_message", text="Hi", at=now()),
        ContentItem(kind="chat_message", text="", media=[{"ref": "r"}]),
    ]
    with server.database.write() as connection:
        communications.replace_content(english.tenant_id, connection, call, items)
    text = read(english, f"parley://communications/{call}")
    assert "## Participants" not in text
    assert "[1] attachment\n>" in text
