"""The cabinet's communications in a browser: looked through, listened to, corrected, analysed words shown as text."""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from store import analysis, communications, deliveries, index_work, speakers, transcriptions
from store.analysis import CriterionResult, NewItem
from store.blobs import Blobs
from store.communications import ContentItem
from store.ids import new_id
from store.speakers import Attending
from tests.contract.waiting import eventually
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, add_talk, promise
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, WAIT_MS, findings, width_over

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)
HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
SAID = ("Good morning, this is the lamp shop", "My gravelmoth lamp arrived broken", "We will send a new one tomorrow")


def sound(seconds: int) -> bytes:
    data = struct.pack(f"<{seconds * 8000}h", *(round(9000 * math.sin(number / 5)) for number in range(seconds * 8000)))
    head = (b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 1, 1, 8000, 16_000, 2, 16, b"data", len(data))
    return struct.pack("<4sI8sIHHIIHH4sI", *head) + data


def add_call(account: Account, *, failed_of: str | None = None) -> str:
    """A call of 30 seconds with sound, words, people, analysis; `failed_of`: why its recognition failed."""
    key, tenant = f"{account.tenant_id}/audio/{new_id()}", account.tenant_id
    recording = sound(30)
    Blobs(account.server.settings).put(key, recording)
    with account.server.database.write() as connection:
        row = communications.create(
            tenant,
            connection,
            kind="call",
            channel_type="phone",
            occured_at=AT,
            title="",
            direction="in",
            duration_ms=30_000,
            is_closed=True,
        )
        labels = ("SPEAKER_00", "SPEAKER_01", "SPEAKER_00")
        items = [
            ContentItem("audio_utterance", text, label, number * 10_000, number * 10_000 + 8_000, AT)
            for number, (text, label) in enumerate(zip(SAID, labels, strict=True))
        ]
        communications.replace_content(tenant, connection, row.id, items)
        words = [
            [{"word": word, "start": number * 10 + at} for at, word in enumerate(text.split())]
            for number, text in enumerate(SAID)
        ]
        segments = [
            {"text": text, "start": number * 10, "end": number * 10 + 8, "speaker": labels[number], "words": said}
            for number, (text, said) in enumerate(zip(SAID, words, strict=True))
        ]
        task = transcriptions.create(
            tenant,
            connection,
            communication_id=row.id,
            blob_key=key,
            file_name="call.wav",
            parameters={"words": True},
            occured_at=AT,
            media_type="audio/wav",
            size_bytes=len(recording),
        )
        result = {"language": "en", "text": " ".join(SAID), "audio_duration_ms": 30_000, "segments": segments}
        ended = (
            {"status": "error", "error_message": failed_of} if failed_of else {"status": "success", "result": result}
        )
        transcriptions.update(tenant, connection, task.id, progress=1.0, **ended)
        client = speakers.upsert(tenant, connection, external_id="c-1", name="Anna Client", role="client")
        speakers.attach(tenant, connection, row.id, [Attending(client.id, "client", "SPEAKER_01")])
        promise = NewItem("commitment", "Send a new lamp", None, {"deadline": "2026-03-05", "quote": SAID[2], "idx": 2})
        summary = f"A broken lamp. {HOSTILE}"
        analysis.put_summary(tenant, connection, row.id, text=summary, category="complaint", items=[promise])
        analysis.put_qc(
            tenant,
            connection,
            row.id,
            scenario_code="existing_case",
            score_pct=50.0,
            comment=None,
            status="success",
            criteria=[
                CriterionResult("greeting", "binary", True, evidence="Good morning"),
                CriterionResult("farewell", "binary", False, evidence=""),
            ],
        )
        for stage in ("summary", "qc"):
            analysis.set_stage(tenant, connection, row.id, stage, "success")
        index_work.add(tenant, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
    return row.id


def add_chat(account: Account, text: str, number: int = 1) -> str:
    body = {
        "kind": "chat",
        "channel_type": "telegram",
        "occured_at": (AT - timedelta(hours=number)).isoformat(),
        "speakers": [{"id": f"v-{number}", "name": f"Visitor {number}", "role": "client", "label": "v"}],
        "summary": False,
        "content": [{"text": text, "label": "v"}],
    }
    answer = account.post("/public/v1/communications", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["communication_id"])


def add_chats(account: Account, count: int) -> None:
    with account.server.database.write() as connection:
        for number in range(count):
            communications.create(
                account.tenant_id,
                connection,
                kind="chat",
                channel_type="telegram",
                occured_at=AT - timedelta(hours=number),
                title="",
                is_closed=True,
            )


def title_of(page: Page) -> str:
    return page.title()


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_people_filter_search_and_open_a_communication(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    add_call(account)
    add_chat(account, HOSTILE)
    page = open_cabinet(account, "/communications", **({"viewport": viewport} if viewport else {}))
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("<script>")
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("combobox", name="Category").click()
    page.get_by_role("option", name="Complaint").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("category=complaint"))
    expect(rows.first).to_contain_text("Anna Client")
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Anna Client")
    page.go_back()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Clear all").click()
    expect(rows).to_have_count(2)
    path = "/public/v1/communications/search"
    eventually(lambda: account.get(path, params={"query": "gravelmoth"}).json()["items"], bool)
    search = page.get_by_role("textbox", name="Search in conversations")
    search.fill("gravelmoth lamp")
    search.press("Enter")
    expect(page).to_have_url(re.compile("query=gravelmoth"))
    expect(rows.first).to_contain_text("gravelmoth")
    assert "hacked" not in title_of(page)


def test_a_list_of_filters_is_kept_as_a_view(account: Account, open_cabinet: OpenCabinet) -> None:
    add_call(account)
    add_chat(account, "Hello")
    page = open_cabinet(account, "/communications?kind=chat")
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Save this view…").click()
    page.get_by_role("textbox", name="Name of the view").fill("Chats only")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Chats only")).to_be_visible()
    page.goto(f"{account.server.url}/cabinet/communications")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Chats only", exact=True).click()
    expect(rows).to_have_count(1)


def test_a_view_is_deleted_only_after_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    body = {"name": "Chats only", "filters": {"kind": "chat"}}
    assert account.post("/public/v1/views", json=body).status_code == 201
    page = open_cabinet(account, "/communications")
    views = page.get_by_role("button", name="Views")
    views.click()
    expect(page.get_by_role("menuitem", name="Chats only", exact=True)).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Delete the view “Chats only”")).to_be_focused()
    page.keyboard.press("Enter")
    dialogue = page.get_by_role("dialog", name="Delete this view?")
    expect(dialogue).to_contain_text("for everybody in the account")
    assert findings(page) == []
    assert len(account.get("/public/v1/views").json()["items"]) == 1
    dialogue.get_by_role("button", name="Delete").click()
    expect(dialogue).to_have_count(0)
    assert account.get("/public/v1/views").json()["items"] == []


def test_a_long_list_goes_on_as_it_is_scrolled(account: Account, open_cabinet: OpenCabinet) -> None:
    with account.server.database.write() as connection:
        for number in range(130):
            communications.create(
                account.tenant_id,
                connection,
                kind="call",
                channel_type="phone",
                occured_at=AT - timedelta(hours=number),
                title="",
                request_record_id=f"record-{number}",
            )
    page = open_cabinet(account, "/communications")
    expect(page.get_by_text("130 communications")).to_be_visible()
    expect(page.get_by_role("link", name="record-0", exact=False).first).to_be_visible()
    last = page.get_by_role("link", name="Call: record-129", exact=True)
    for _ in range(60):
        page.keyboard.press("End")
        page.mouse.wheel(0, 4000)
        if last.count():
            break
        page.wait_for_function("() => new Promise((done) => requestAnimationFrame(() => done(true)))")
    expect(last).to_be_visible()
    assert page.get_by_role("listitem").count() < 60


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_call_is_read_and_heard_with_its_words_lit(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    call = add_call(account)
    page = open_cabinet(account, f"/communications/{call}", **({"viewport": viewport} if viewport else {}))
    expect(page.get_by_text(SAID[1])).to_be_visible()
    assert (findings(page), width_over(page)) == ([], 0)
    position = page.get_by_role("slider", name="Position in the recording")
    expect(position).to_have_attribute("aria-valuemax", "30")
    page.get_by_role("button", name="Listen from 0:10").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("#item-1 mark")).to_have_text(re.compile("gravelmoth|lamp|arrived|broken"))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    position.focus()
    page.keyboard.press("Home")
    expect(position).to_have_attribute("aria-valuenow", "0")
    page.keyboard.press("ArrowRight")
    expect(position).to_have_attribute("aria-valuenow", "5")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    if viewport:
        page.get_by_text("Analysis", exact=True).click()
    expect(page.get_by_text("A broken lamp.")).to_contain_text("<script>")
    expect(page.get_by_text("not met", exact=False)).to_have_count(1)
    page.get_by_role("button", name="“Good morning”").click()
    expect(page.locator("#item-0")).to_be_in_viewport()
    expect(page.locator("#item-0")).to_be_focused()
    assert (findings(page), width_over(page), "hacked" in title_of(page)) == ([], 0, False)


def test_a_link_leads_to_its_turn(account: Account, open_cabinet: OpenCabinet) -> None:
    call = add_call(account)
    for address in ("#item-2", "?item=2", "?at=21000"):
        page = open_cabinet(account, f"/communications/{call}{address}")
        expect(page.locator("#item-2")).to_be_focused()


def test_a_quotation_leads_to_the_turn_that_it_was_found_in(account: Account, open_cabinet: OpenCabinet) -> None:
    turns = [
        ("SPEAKER_01", "Good day"),
        ("SPEAKER_00", "Good day, Daisy company"),
        ("SPEAKER_01", "Da"),
        ("SPEAKER_00", "Dada lamps are sold out"),
        ("SPEAKER_00", "I will write you a mail"),
        ("SPEAKER_00", "I will write you a mail tomorrow"),
    ]
    talk = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=turns,
        promises=[promise("Write a mail", "SPEAKER_00", quote="I will write you a mail", idx=5)],
        criteria=[
            CriterionResult("greeting", "binary", True, "Good day", idx=1),
            # An older evaluation, which does not name its turn; and one whose turn was corrected since.
            CriterionResult("farewell", "binary", False, "Dada lamps are sold out. Sorry!"),
            CriterionResult("thanks", "binary", False, "Thanks for the lamp", idx=2),
        ],
    )
    page = open_cabinet(account, f"/communications/{talk.id}")
    quoted = {"“Good day”": 1, "“Dada lamps are sold out. Sorry!”": 3, "“Thanks for the lamp”": 2}
    for words, idx in {**quoted, "“I will write you a mail”": 5}.items():
        page.get_by_role("button", name=words, exact=True).click()
        expect(page.locator(f"#item-{idx}")).to_be_focused()


def test_text_and_speakers_are_corrected_and_the_history_tells(account: Account, open_cabinet: OpenCabinet) -> None:
    call = add_call(account)
    page = open_cabinet(account, f"/communications/{call}")
    turn = page.locator("#item-1")
    turn.hover()
    turn.get_by_role("button", name="Correct").click()
    page.get_by_role("textbox", name="What was said").fill("My quillfeather lamp arrived broken")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(turn).to_contain_text("quillfeather")
    history = page.locator("section", has=page.get_by_role("heading", name="Corrections"))
    expect(history).to_contain_text(SAID[1])
    page.get_by_role("button", name="Who is this? Speaker 1").click()
    page.get_by_text("New person", exact=True).click()
    page.get_by_role("textbox", name="Name").fill("Boris Seller")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#item-0")).to_contain_text("Boris Seller")
    expect(history).to_contain_text("Boris Seller")
    expect(history).to_contain_text("The analysis is older than these corrections")
    assert findings(page) == []
    with account.server.database.write() as connection:
        # As an analysis of the corrected text leaves it.
        analysis.set_stage(account.tenant_id, connection, call, "summary", "success")
    page.reload()
    expect(history).to_contain_text("Boris Seller")
    expect(history).not_to_contain_text("The analysis is older")


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_mail_is_called_by_its_subject_and_a_call_by_who_takes_part(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    people = {"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}
    names = f"{ANNA.name}, {BORIS.name}"
    turns = [("SPEAKER_00", "Here is our offer.")]
    for hour, (title, kind) in enumerate((("Offer: 20 lamps", "email"), ("2026-03-04_0917", "call"), (names, "chat"))):
        at = AT - timedelta(hours=hour)
        add_talk(account, people=people, turns=turns, title=title, kind=kind, at=at)
    page = open_cabinet(account, "/communications", **({"viewport": viewport} if viewport else {}))
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    mail, call, chat = rows.nth(0), rows.nth(1), rows.nth(2)
    expect(mail.get_by_role("link")).to_have_text("Mail: Offer: 20 lamps")
    expect(mail).to_contain_text(names)
    expect(call.get_by_role("link")).to_have_text(f"Call: {names}")
    expect(call).to_contain_text("2026-03-04_0917")
    expect(chat.get_by_role("link")).to_have_text(f"Chat: {names}")
    expect(chat.get_by_text(names, exact=True)).to_have_count(0)  # not as a title too
    assert (findings(page), width_over(page)) == ([], 0)
    mail.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Offer: 20 lamps")
    expect(page.get_by_text(f"{names} · Mail")).to_be_visible()
    assert (findings(page), width_over(page)) == ([], 0)
    page.go_back()
    call.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(names)
    expect(page.get_by_text("2026-03-04_0917 · Call, incoming")).to_be_visible()


def test_a_communication_is_deleted_after_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    call = add_call(account)
    page = open_cabinet(account, f"/communications/{call}", language="ru")
    page.get_by_role("button", name="Ещё действия").click()
    page.get_by_role("menuitem", name="Удалить…").click()
    page.get_by_role("dialog").get_by_role("button", name="Удалить").click()
    expect(page).to_have_url(re.compile("/cabinet/communications$"))
    expect(page.get_by_text("Разговоров пока нет")).to_be_visible(timeout=WAIT_MS)
    assert account.get("/public/v1/communications", params={"id": call}).status_code == 404


def test_messages_of_a_chat_stand_as_text(account: Account, open_cabinet: OpenCabinet) -> None:
    chat = add_chat(account, HOSTILE)
    page = open_cabinet(account, f"/communications/{chat}", color_scheme="dark")
    expect(page.locator("#item-0")).to_contain_text("<script>document.title='hacked'</script>")
    expect(page.get_by_role("slider")).to_have_count(0)
    assert (findings(page), "hacked" in title_of(page)) == ([], False)


def test_a_further_page_that_is_refused_is_asked_for_again_only_by_hand(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    add_chats(account, 60)
    asked = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=429, json={"error": {"message": "Too many.", "code": "rate_limit_exceeded"}})

    page = open_cabinet(account)
    further = re.compile(r"/communications/search\?.*cursor=")
    page.route(further, refuse)
    page.goto(f"{account.server.url}/cabinet/communications")
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("alert")).to_contain_text("Too many requests")
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.locator("li[data-index='49']")).to_be_visible()
    assert len(asked) == 1
    assert findings(page) == []
    page.unroute(further)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator("li[data-index='59']")).to_be_visible()


def test_a_recording_that_was_not_recognised_says_why_and_can_be_listened_to(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    why = "Recognition took longer than the server allows."
    page = open_cabinet(account, f"/communications/{add_call(account, failed_of=why)}")
    expect(page.get_by_role("heading", name="The recording could not be recognised")).to_be_visible()
    expect(page.get_by_text(why)).to_have_attribute("lang", "en")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    assert findings(page) == []
    unpaid = add_call(account, failed_of="client_inactive")
    page.goto(f"{account.server.url}/cabinet/communications/{unpaid}")
    expect(page.get_by_text("The balance did not cover it.")).to_be_visible()


def test_what_was_sent_to_the_webhook_shows_as_soon_as_a_stage_has_ended(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    call = add_call(account)
    with account.server.database.write() as connection:
        analysis.set_stage(account.tenant_id, connection, call, "memory", "processing")
    page = open_cabinet(account, f"/communications/{call}")
    expect(page.get_by_role("heading", name="Summary")).to_be_visible()
    with account.server.database.write() as connection:
        deliveries.add(
            account.tenant_id,
            connection,
            event_key=new_id(),
            event="memory.completed",
            body="{}",
            url="https://shop.example/hook",
            is_account_url=True,
            key_id=None,
            communication_id=call,
        )
        analysis.set_stage(account.tenant_id, connection, call, "memory", "success")
    expect(page.get_by_role("heading", name="Webhooks")).to_be_visible()
