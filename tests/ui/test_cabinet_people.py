"""People: found, read, renamed, merged and forgotten."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Route, expect

from store import speakers
from store.analysis import CriterionResult
from store.database import now
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Someone, Talk, add_talk, fact, promise
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, findings, width_over

pytestmark = pytest.mark.browser
MARKUP = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>\'"><svg onload=window.hurt=1>'
LONG = "Konstantinopolskaya-Verkhnepyshminskaya " * 4


def fill(account: Account) -> tuple[Talk, Talk]:
    first = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=[("SPEAKER_00", "Good day."), ("SPEAKER_01", "We open a <i>second</i> cafe in June.")],
        promises=[promise("Send the offer", "SPEAKER_00")],
        facts=[fact("Opens a second cafe", "SPEAKER_01", quote="We open a <i>second</i> cafe in June")],
        title="The second cafe",
    )
    second = add_talk(
        account,
        people={"SPEAKER_00": Someone(LONG.strip()[:200], "tel-79160000000", "unknown")},
        turns=[("SPEAKER_00", "It is me again.")],
        title="Another call",
    )
    return first, second


@pytest.mark.parametrize(("options", "language"), [({}, "en"), ({"viewport": PHONE, "color_scheme": "dark"}, "ru")])
def test_a_person_is_found_and_read(
    account: Account, open_cabinet: OpenCabinet, options: dict[str, object], language: str
) -> None:
    first, _ = fill(account)
    page = open_cabinet(account, "/people", language=language, **options)
    expect(page.get_by_role("link", name=ANNA.name)).to_be_visible()
    assert findings(page) == []
    assert width_over(page) == 0
    page.get_by_role("textbox").first.fill("fairw")
    expect(page.get_by_role("link", name=BORIS.name)).to_have_count(0)
    page.get_by_role("link", name=ANNA.name).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(ANNA.name or "")
    expect(page.get_by_text("We open a <i>second</i> cafe in June")).to_be_visible()
    source = page.get_by_role("link", name="The second cafe")
    expect(source).to_have_attribute("href", f"/cabinet/communications/{first.id}?item=1")
    assert findings(page) == []
    assert width_over(page) == 0
    for tab in page.get_by_role("tab").all()[1:]:
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        assert findings(page) == []


def test_people_are_in_the_order_of_a_column(account: Account, open_cabinet: OpenCabinet) -> None:
    turns = [("SPEAKER_00", "Good day.")]
    for days, someone in ((3, ANNA), (1, Someone("Zoe", "cl-zoe")), (2, BORIS)):
        add_talk(account, people={"SPEAKER_00": someone}, turns=turns, at=now() - timedelta(days=days))
    with account.server.database.write() as connection:
        # Looked at last, heard longest ago.
        speakers.upsert(account.tenant_id, connection, external_id=ANNA.external_id, name="Anna A. Fairweather")
    page = open_cabinet(account, "/people")
    names = page.get_by_role("main").locator("a[href*='/people/']")
    expect(names).to_have_text(["Zoe", BORIS.name or "", "Anna A. Fairweather"])
    expect(page.get_by_role("columnheader", name="Last contact")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Name").press("Enter")
    expect(names).to_have_text(["Anna A. Fairweather", BORIS.name or "", "Zoe"])
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile("order=name$"))
    assert findings(page) == []
    page.reload()
    expect(names).to_have_text(["Anna A. Fairweather", BORIS.name or "", "Zoe"])
    page.get_by_role("button", name="Last contact").click()
    expect(names).to_have_text(["Zoe", BORIS.name or "", "Anna A. Fairweather"])


def test_open_promises_of_a_person_are_counted_and_listed_alike(account: Account, open_cabinet: OpenCabinet) -> None:
    first, _ = fill(account)
    page = open_cabinet(account, f"/people/{first.people['SPEAKER_01']}")
    # Made to her by Boris.
    expect(page.locator("dl > div", has_text="Open promises").locator("dd")).to_have_text("1")
    page.get_by_role("tab", name="Promises").click()
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("link", name="All promises").click()
    expect(page.get_by_role("button", name="All 1", pressed=True)).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("Send the offer")
    expect(page.get_by_text(f"By or to {ANNA.name}")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name=f"Without: By or to {ANNA.name}").click()
    expect(page.get_by_text(f"By or to {ANNA.name}")).to_have_count(0)


def test_names_that_hold_markup_are_words_and_run_nothing(account: Account, open_cabinet: OpenCabinet) -> None:
    """That no script of theirs runs is watched by `open_cabinet`, too: the policy would tell the console of it."""
    names = [f"Anna {MARKUP}", f"Boris {MARKUP}"]
    talk = add_talk(
        account,
        people={
            "SPEAKER_00": Someone(names[1], "emp-1", "support", f"Service {MARKUP}"),
            "SPEAKER_01": Someone(names[0], "cl-1"),
        },
        turns=[("SPEAKER_00", "Good day."), ("SPEAKER_01", "Hello.")],
        promises=[promise("Send the offer", "SPEAKER_00", due=now().date() + timedelta(days=2))],
        facts=[fact("Likes tea", "SPEAKER_01")],
        score_pct=50.0,
        criteria=[CriterionResult("greeting", "binary", True, "Good day")],
    )
    page = open_cabinet(account)
    for path, name in (
        ("", names[1]),
        ("/people", names[0]),
        (f"/people/{talk.people['SPEAKER_01']}", names[0]),
        (f"/people/{talk.people['SPEAKER_00']}", names[1]),
        ("/communications", names[0]),
        (f"/communications?participant={talk.people['SPEAKER_01']}", names[0]),
        (f"/communications/{talk.id}", names[0]),
        ("/promises", names[1]),
        ("/quality", names[1]),
    ):
        page.goto(f"{account.server.url}/cabinet{path}")
        expect(page.get_by_text(name).first).to_be_visible()
        expect(page.locator("[src=x], [onload], [onerror], script:not([src]):not([type$=json])")).to_have_count(0)
        assert page.evaluate("window.hurt") is None, path
    page.goto(f"{account.server.url}/cabinet/quality")
    page.get_by_role("tab", name="Departments").click()
    expect(page.get_by_text(f"Service {MARKUP}")).to_be_visible()
    page.goto(f"{account.server.url}/cabinet/promises")
    page.get_by_role("combobox", name="Who promised").fill("Boris")
    page.get_by_role("option", name=names[1]).click()
    expect(page.get_by_role("combobox", name="Who promised")).to_have_value(names[1])
    assert page.evaluate("window.hurt") is None


def test_a_person_is_renamed_by_keyboard(account: Account, open_cabinet: OpenCabinet) -> None:
    first, _ = fill(account)
    page = open_cabinet(account, f"/people/{first.people['SPEAKER_01']}")
    page.get_by_role("button", name="Edit").press("Enter")
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    name.fill("Anna Newname")
    assert findings(page) == []
    name.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna Newname")


def test_two_profiles_are_merged_and_the_old_address_leads_to_the_one(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    first, second = fill(account)
    kept, gone = first.people["SPEAKER_01"], second.people["SPEAKER_00"]
    page = open_cabinet(account, f"/people/{kept}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Merge with another profile").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("tel-7916")
    page.get_by_role("dialog").get_by_role("button", name="tel-79160000000").click()
    expect(page.get_by_role("dialog")).to_contain_text("This cannot be undone.")
    assert findings(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("Merged profiles")).to_be_visible()
    assert width_over(page) == 0
    page.goto(f"{account.server.url}/cabinet/people/{gone}")
    expect(page).to_have_url(f"{account.server.url}/cabinet/people/{kept}")


def test_a_person_is_forgotten_after_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    first, _ = fill(account)
    page = open_cabinet(account, f"/people/{first.people['SPEAKER_01']}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Forget this person").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This cannot be undone.")
    expect(page.get_by_role("menu")).to_have_count(0)
    assert findings(page) == []
    dialog.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("People")
    expect(page.get_by_role("link", name=BORIS.name)).to_be_visible()
    expect(page.get_by_role("link", name=ANNA.name)).to_have_count(0)
    answer = account.get(f"/public/v1/speakers/{first.people['SPEAKER_01']}")
    assert answer.status_code == 404


def test_an_account_without_people_says_how_they_come(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/people")
    expect(page.get_by_role("heading", name="Nobody is here yet")).to_be_visible()
    assert findings(page) == []


def test_more_people_who_are_refused_are_asked_for_once_more(account: Account, open_cabinet: OpenCabinet) -> None:
    with account.server.database.write() as connection:
        for number in range(60):
            speakers.upsert(account.tenant_id, connection, external_id=f"c-{number}", name=f"Client {number}")
    is_busy = True

    def answer(route: Route) -> None:
        if is_busy and "cursor" in (route.request.post_data or ""):
            route.fulfill(status=429, json={"error": {"message": "Too many.", "code": "rate_limit_exceeded"}})
        else:
            route.continue_()

    page = open_cabinet(account)
    page.route("**/tools/search_speakers", answer)
    page.goto(f"{account.server.url}/cabinet/people")
    people = page.get_by_role("link", name="Client ")
    expect(people).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("alert")).to_contain_text("Too many requests")
    assert findings(page) == []
    is_busy = False
    page.get_by_role("button", name="Try again").click()
    expect(people).to_have_count(60)
    expect(page.get_by_role("alert")).to_have_count(0)
