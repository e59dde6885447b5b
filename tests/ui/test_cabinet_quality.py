"""Quality: ranks, weakest criteria with their words, and the editor of scenarios with its preview and its guard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from store.analysis import CriterionResult
from store.database import now
from tests.contract.waiting import eventually
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Talk, add_talk
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser
SCENARIOS = "/public/v1/qc/scenarios"
SAID = [
    ("SPEAKER_00", "Good day, Daisy company, my name is Boris, how can I help you?"),
    ("SPEAKER_01", "Hello, my coffee machine is leaking since yesterday evening."),
    ("SPEAKER_00", "Whatever, call somebody else. Thank you for calling, goodbye!"),
]


def fill(account: Account, turns: Sequence[tuple[str, str]] = SAID) -> Talk:
    return add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=turns,
        score_pct=50.0,
        criteria=[
            CriterionResult("greeting", "binary", True, evidence="Good day"),
            CriterionResult("confirm_details", "binary", False, evidence="Whatever, call somebody else", idx=2),
        ],
        title="The leak",
    )


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_ranks_and_the_weakest_criterion_lead_to_the_words(
    account: Account, open_cabinet: OpenCabinet, options: dict[str, object]
) -> None:
    # The client tells the same words before they are said again.
    talk = fill(account, [SAID[0], ("SPEAKER_01", "They said: “Whatever, call somebody else”."), SAID[2]])
    page = open_cabinet(account, "/quality", **options)
    expect(page.get_by_role("cell", name=BORIS.name)).to_be_visible()
    page.get_by_role("tab", name="Scenarios").click()
    expect(page.get_by_role("link", name="Базовый этикет")).to_be_visible()
    page.get_by_role("button", name="Example").click()
    expect(page.get_by_text("«Whatever, call somebody else»")).to_be_visible()
    source = page.get_by_role("link", name="The leak")
    expect(source).to_have_attribute("href", f"/cabinet/communications/{talk.id}?item=2")
    assert findings(page) == []
    assert width_over(page) == 0


def test_scenarios_are_edited_tried_and_saved(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account, "/quality/scenarios")
    scenarios = page.get_by_role("list").filter(has=page.get_by_role("switch")).get_by_role("listitem")
    expect(scenarios).to_have_count(12)
    last = scenarios.last
    last.get_by_role("button", name="Move up:").press("Enter")
    expect(scenarios.nth(10)).to_contain_text("Базовый этикет")
    scenarios.nth(10).get_by_role("button", expanded=False).first.click()
    scenarios.nth(10).get_by_role("textbox", name="Name", exact=True).fill("Our <b>manners</b>")
    for at in range(12):
        if at != 10:
            scenarios.nth(at).get_by_role("switch").first.press("Space")
    assert findings(page) == []
    page.get_by_role("button", name="Judge").click()
    expect(page.get_by_text("Our <b>manners</b>").last).to_be_visible()
    expect(page.get_by_text("stored score: 50 %")).to_be_visible()
    expect(page.get_by_role("link", name="Good day").first).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("There are unsaved changes")).to_have_count(0)
    items = account.get(SCENARIOS).json()["items"]
    assert [(item["code"], item["name"]) for item in items if item["enabled"]] == [
        ("base_etiquette", "Our <b>manners</b>")
    ]


def test_what_was_taken_out_or_reworded_can_be_got_back(account: Account, open_cabinet: OpenCabinet) -> None:
    before = account.get(SCENARIOS).json()
    bare = [{"code": item["code"], "name": "Ours", "criteria": [{"code": "greeting"}]} for item in before["items"]]
    changed = {"items": bare, "company": {"contacts": ["help@shop.example"]}}
    assert account.request("PUT", SCENARIOS, json=changed).status_code == 200
    page = open_cabinet(account, "/quality/scenarios")
    first = page.get_by_role("listitem").filter(has=page.get_by_role("switch")).first
    first.get_by_role("button", expanded=False).click()
    first.get_by_role("combobox", name="Add a criterion").click()
    expect(page.get_by_role("option")).to_have_count(19)
    page.get_by_role("option", name="Прощание").click()
    expect(first.get_by_role("button", name="Remove: Прощание")).to_be_visible()
    first.get_by_role("switch", name="Use: Ours").press("Space")
    first.get_by_role("button", name="Restore the defaults: Ours").click()
    expect(first.get_by_role("textbox", name="Name", exact=True)).to_have_value("Новое обращение")
    expect(first.get_by_role("button", name=re.compile("^Remove"))).to_have_count(14)
    expect(first.get_by_role("button", name=re.compile("^Restore"))).to_have_count(0)
    expect(first.get_by_role("switch", name="Use: Новое обращение")).not_to_be_checked()
    assert findings(page) == []
    page.get_by_role("button", name="Restore the defaults of all").click()
    expect(page.get_by_role("dialog")).to_contain_text("Nothing is saved")
    assert findings(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("There are unsaved changes")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Restore"))).to_have_count(0)
    after = account.get(SCENARIOS).json()
    assert (after["items"], after["company"]["contacts"]) == (before["items"], ["help@shop.example"])


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_all_of_a_scenarios_head_opens_it(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = open_cabinet(account, "/quality/scenarios", viewport=viewport)
    first = page.get_by_role("listitem").filter(has=page.get_by_role("switch")).first
    head = first.locator(":scope > div").first
    box = head.bounding_box()
    assert box is not None
    head.click(position={"x": box["width"] - 20, "y": box["height"] / 2})  # its chevron
    expect(first.get_by_role("textbox", name="Name", exact=True)).to_be_visible()
    head.click(position={"x": box["width"] / 2, "y": 2})
    expect(first.get_by_role("textbox", name="Name", exact=True)).to_have_count(0)
    first.get_by_role("button", name="Move down:").click()
    expect(first.get_by_role("textbox", name="Name", exact=True)).to_have_count(0)
    expect(first).not_to_contain_text("Новое обращение")


def test_a_conversation_to_judge_is_found_by_its_words(account: Account, open_cabinet: OpenCabinet) -> None:
    wanted = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=[*SAID, ("SPEAKER_01", "And the gravelmoth lamp flickers, too.")],
        title="The lamp",
        at=now() - timedelta(days=400),
    )
    for number in range(51):  # so many newer ones that the list of the newest has no place for it
        add_talk(
            account,
            people={"SPEAKER_00": BORIS},
            turns=[("SPEAKER_00", "Nobody is there.")],
            title=f"Call {number}",
        )
    eventually(
        lambda: account.get("/public/v1/communications/search", params={"query": "gravelmoth"}).json()["items"],
        bool,
    )
    page = open_cabinet(account, "/quality/scenarios")
    field = page.get_by_role("combobox", name="Choose a conversation")
    expect(field).to_have_value(re.compile("Call"))
    field.fill("gravelmoth lamp")
    page.get_by_role("option", name="The lamp").click()
    expect(field).to_have_value(re.compile("The lamp"))
    with page.expect_request("**/public/v1/qc/scenarios/preview") as asked:
        page.get_by_role("button", name="Judge").click()
    assert asked.value.post_data_json["communication_id"] == wanted.id
    expect(page.get_by_role("link", name="Good day").first).to_be_visible()
    assert findings(page) == []


def test_changes_are_not_lost_without_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/quality/scenarios", viewport=PHONE, language="ru")
    page.get_by_role("switch").first.press("Space")
    expect(page.get_by_text("Есть несохранённые изменения")).to_be_visible()
    assert width_over(page) == 0
    page.get_by_role("link", name="Качество").last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Уйти без сохранения?")
    assert findings(page) == []
    dialog.get_by_role("button", name="Отмена").click()
    expect(page.get_by_text("Есть несохранённые изменения")).to_be_visible()
    page.get_by_role("button", name="Отменить").click()
    page.get_by_role("link", name="Качество").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Качество")
    expect(page.get_by_role("heading", name="За этот период оценок нет")).to_be_visible()
    assert findings(page) == []
