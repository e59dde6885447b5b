"""A communication's page of the cabinet in a browser: listened to, corrected, analysed words shown as text."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from store import analysis, deliveries
from store.analysis import CriterionResult, NewItem
from store.ids import new_id
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, add_talk, promise
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import HOSTILE, SAID, add_call, add_chat
from tests.ui.conftest import PHONE, WAIT_MS, findings, width_over


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
    for time in ("0:00", "0:10", "0:20"):  # as lists of buttons have it, whichever turn each belongs to
        expect(page.get_by_role("button", name=f"Correct: {time}", exact=True)).to_have_count(1)
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
    assert (findings(page), width_over(page), "hacked" in page.title()) == ([], 0, False)


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


def test_facts_stand_under_their_names_and_each_once(account: Account, open_cabinet: OpenCabinet) -> None:
    call = add_call(account)
    quoted = {"quote": SAID[1], "idx": 1}
    with account.server.database.write() as connection:
        facts = [
            NewItem("criteria", "The lamp is broken", "topic", quoted),
            NewItem("criteria", SAID[2], "next_touch_at", {"quote": SAID[2], "idx": 2}),
            NewItem("criteria", "The lamp is broken", "severity", quoted),
            NewItem("criteria", "Of a key that left the catalog", "lamp_state"),
        ]
        analysis.put_summary(account.tenant_id, connection, call, text="A lamp.", category="complaint", items=facts)
    page = open_cabinet(account, f"/communications/{call}")
    shown = page.locator("section", has=page.get_by_role("heading", name="Facts")).get_by_role("listitem")
    expect(shown).to_have_text(
        [
            f"Topic, severity: The lamp is broken“{SAID[1]}”",
            f"Next contact: {SAID[2]}",
            "lamp state: Of a key that left the catalog",
        ]
    )
    assert findings(page) == []
    page.get_by_role("button", name=f"Next contact: {SAID[2]}").click()
    expect(page.locator("#item-2")).to_be_focused()


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


def test_a_communication_is_deleted_after_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    call = add_call(account)
    page = open_cabinet(account, f"/communications/{call}", language="ru")
    page.get_by_role("button", name="Ещё действия").click()
    page.get_by_role("menuitem", name="Удалить…").click()
    page.get_by_role("dialog").get_by_role("button", name="Удалить").click()
    expect(page).to_have_url(re.compile("/cabinet/communications$"))
    expect(page.get_by_text("Разговоров пока нет")).to_be_visible(timeout=WAIT_MS)
    assert account.get("/public/v1/communications", params={"id": call}).status_code == 404


@pytest.mark.parametrize(("language", "button", "begins"), [("en", "Download", "Call,"), ("ru", "Скачать", "Звонок,")])
def test_it_is_downloaded_in_the_language_that_is_read(
    account: Account, open_cabinet: OpenCabinet, language: str, button: str, begins: str
) -> None:
    page = open_cabinet(account, f"/communications/{add_call(account)}", language=language)
    page.get_by_role("button", name=button).click()
    with page.expect_download() as downloaded:
        page.get_by_role("menuitem", name=".txt").click()
    assert downloaded.value.path().read_text(encoding="utf-8").startswith(begins)


def test_messages_of_a_chat_stand_as_text(account: Account, open_cabinet: OpenCabinet) -> None:
    chat = add_chat(account, HOSTILE)
    page = open_cabinet(account, f"/communications/{chat}", color_scheme="dark")
    expect(page.locator("#item-0")).to_contain_text("<script>document.title='hacked'</script>")
    expect(page.get_by_role("slider")).to_have_count(0)
    assert (findings(page), "hacked" in page.title()) == ([], False)


def test_a_recording_that_was_not_recognised_says_why_and_can_be_listened_to(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    why = "Recognition took longer than the server allows."
    page = open_cabinet(account, f"/communications/{add_call(account, failed_of=why)}")
    expect(page.get_by_role("heading", name="The recording could not be recognised")).to_be_visible()
    expect(page.get_by_text(why)).to_have_attribute("lang", "en")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.mouse.move(0, 0)  # else the button's tooltip may open meanwhile, which stands beside all landmarks
    expect(page.get_by_role("tooltip")).to_have_count(0)
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
