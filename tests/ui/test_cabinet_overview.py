"""The overview: figures that lead to what is behind them, and how an account begins that has nothing."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from store import communications
from store.analysis import CriterionResult
from store.database import now
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Someone, add_talk, promise
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, findings, width_over

pytestmark = pytest.mark.browser
LIST = re.compile(r"/cabinet/communications\?from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d$")
IN_SALES = re.compile(r"/cabinet/communications\?from=[\d-]+&to=[\d-]+&category=sales$")


def fill(account: Account) -> str:
    """The id of a conversation whose promise is overdue."""
    late = now().date() - timedelta(days=4)
    talk = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=[("SPEAKER_00", "Good day."), ("SPEAKER_01", "I will send <b>it</b>.")],
        promises=[promise("Send <b>the</b> invoice", "SPEAKER_00", due=late, idx=1)],
        title="<img src=x onerror=alert(1)>",
        score_pct=75.0,
        at=now() - timedelta(days=5),
    )
    add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": Someone("Vera", "cl-vera")},
        turns=[("SPEAKER_00", "Yes.")],
        category="sales",
        at=now() - timedelta(days=6),
    )
    return talk.id


@pytest.mark.parametrize(("options", "language"), [({}, "en"), ({"viewport": PHONE, "color_scheme": "dark"}, "ru")])
def test_figures_of_the_period_lead_to_their_lists(
    account: Account, open_cabinet: OpenCabinet, options: dict[str, object], language: str
) -> None:
    talk_id = fill(account)
    page = open_cabinet(account, language=language, **options)
    tile = page.get_by_role("link", name="Communications 2" if language == "en" else "Коммуникации 2")
    expect(tile).to_be_visible()
    expect(page.get_by_role("link", name="75").first).to_be_visible()
    promised = page.get_by_role("link", name="Send <b>the</b> invoice")
    expect(promised).to_have_attribute("href", f"/cabinet/communications/{talk_id}?item=1")
    sales = page.get_by_role("link", name="Sales 1" if language == "en" else "Продажа 1")
    expect(sales).to_have_attribute("href", IN_SALES)
    expect(page.get_by_role("img")).not_to_have_count(0)
    assert findings(page) == []
    assert width_over(page) == 0
    tile.click()
    expect(page).to_have_url(LIST)


def test_each_figure_leads_to_what_it_counted(account: Account, open_cabinet: OpenCabinet) -> None:
    people = {"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}
    for number, tone in enumerate((0.95, 0.8, 0.1)):
        add_talk(
            account,
            people=people,
            turns=[("SPEAKER_00", "Good day.")],
            promises=[promise("Call back", "SPEAKER_00")],
            score_pct=50.0,
            criteria=[CriterionResult("tone_of_voice", "numeric", tone, "Good day")],
            title=f"Call {number}",
        )
    turns = [("SPEAKER_01", "Hello?"), ("SPEAKER_00", "Hello.")]
    replied = add_talk(account, people=people, turns=turns, kind="chat", title="The chat")
    add_talk(account, people=people, turns=turns[:1], kind="chat", title="The silent chat")
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id,
            connection,
            kind="call",
            channel_type="phone",
            occured_at=now() - timedelta(hours=2),
            title="The new call",
        )
    page = open_cabinet(account)
    for name, ids in (
        ("Not analysed 1", [row.id]),
        ("First reply", [replied.id]),
        ("Unfriendly 1", None),
        ("Friendly 2", None),
    ):
        page.get_by_role("link", name=re.compile(f"^{name}")).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Communications")
        rows = page.get_by_role("main").locator("a[href*='/communications/']")
        expect(rows).to_have_count(len(ids) if ids else int(name[-1]))
        for id_ in ids or ():
            expect(rows.first).to_have_attribute("href", f"/cabinet/communications/{id_}")
        assert findings(page) == []
        page.go_back()
    judged = page.locator("section", has=page.get_by_role("heading", name="Quality score")).locator("details")
    judged.locator("summary").click()
    judged.get_by_role("link").click()
    expect(page).to_have_url(re.compile("score_from=0$"))
    expect(page.get_by_role("main").locator("a[href*='/communications/']")).to_have_count(3)
    page.go_back()
    page.get_by_text("Promises made").click()
    expect(page.get_by_role("button", name="All 3", pressed=True)).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_text(re.compile("^Made from "))).to_be_visible()
    assert findings(page) == []


def test_the_period_is_switched_and_stays_in_the_address(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account)
    page.get_by_text("90 days").click()
    expect(page).to_have_url(account.server.url + "/cabinet?days=90")
    page.get_by_text("Own", exact=True).click()
    page.get_by_label("From", exact=True).fill("2020-01-01")
    page.get_by_label("To", exact=True).fill("2020-01-31")
    expect(page).to_have_url(account.server.url + "/cabinet?from=2020-01-01&to=2020-01-31")
    expect(page.get_by_role("link", name="Communications 0")).to_be_visible()
    page.reload()
    expect(page.get_by_label("From", exact=True)).to_have_value("2020-01-01")
    assert findings(page) == []


def test_a_chart_has_its_figures_as_a_table_too(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account)
    page.get_by_text("As a table").first.focus()
    page.keyboard.press("Enter")
    rows = page.get_by_role("table").first.get_by_role("row")
    expect(rows).to_have_count(31)
    expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", LIST)


def test_a_new_account_sees_how_to_begin(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, language="ru")
    expect(page.get_by_role("heading", name="Дайте Parley услышать первый разговор")).to_be_visible()
    for name, path in (("Загрузить звонок", "upload"), ("Подключить агентов", "connect"), ("знания", "knowledge")):
        expect(page.get_by_role("main").get_by_role("link", name=name)).to_have_attribute("href", f"/cabinet/{path}")
    assert findings(page) == []
    assert width_over(page) == 0
