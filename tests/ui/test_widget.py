"""The widget on a site: asking, the answer that streams in, its sources, and the conversation that stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import DESKTOP, NARROW, PHONE, OpenPage, answer, ask, opened
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser

DOCUMENT = {
    "citation": 1,
    "kind": "document",
    "title": "Rental prices",
    "url": "http://127.0.0.1/cabinet/documents/1",
    "source_url": "https://polar-owl.example/prices",
    "page": 3,
    "snippet": "Owl 60 costs 9 800 a month.",
}
CALL = {
    "citation": 2,
    "kind": "communication",
    "title": "Order change",
    "url": "http://127.0.0.1/cabinet/communications/1",
    "source_url": None,
    "page": None,
    "snippet": "Anna: we need two machines.",
}
CITED = "It costs **9 800** [1]. Anna ordered two [2]."


def test_it_greets_and_offers_the_chats_own_questions(page: Page, site: ScriptedSite) -> None:
    dialog = page.get_by_role("dialog", name="Polar Owl")
    expect(dialog).to_contain_text("coffee machines")
    expect(dialog.get_by_role("list", name="Often asked").get_by_role("button")).to_have_text(
        site.config["suggestions"]
    )
    assert site.begun == []  # nobody becomes a visitor by looking


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE, NARROW], ids=["desktop", "phone", "narrow"])
def test_a_question_gets_a_streamed_answer_with_its_source(
    open_page: OpenPage, site: ScriptedSite, viewport: dict[str, int]
) -> None:
    page = opened(open_page(viewport=viewport))
    site.answers("It costs ", "**9 8", held=True, markdown=CITED, citations=[DOCUMENT, CALL])
    ask(page, "What does Owl 60 cost?")
    expect(answer(page)).to_have_text("It costs 9 8")  # open bold shows no bare asterisks
    expect(page.locator(".answer")).to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("button", name="Stop the answer")).to_be_visible()
    site.release()
    expect(answer(page)).to_have_text("It costs 9 800 1. Anna ordered two 2.")
    expect(answer(page).locator("strong")).to_have_text("9 800")
    expect(page.get_by_role("status").last).to_have_text("It costs 9 800. Anna ordered two.")
    page.get_by_role("button", name="Source 1: Rental prices").click()
    source = page.get_by_role("region", name="Source 1: Rental prices")
    expect(source).to_be_focused()
    expect(source).to_contain_text("Document · p. 3")
    expect(source).to_contain_text("Owl 60 costs 9 800 a month.")
    expect(source.get_by_role("link")).to_have_attribute("href", "https://polar-owl.example/prices")
    expect(source.get_by_role("link")).to_have_attribute("rel", "noopener noreferrer nofollow")
    page.keyboard.press("Escape")
    expect(source).to_be_hidden()
    expect(page.get_by_role("button", name="Source 1: Rental prices")).to_be_focused()


def test_a_source_in_the_cabinet_is_shown_and_not_linked(page: Page, site: ScriptedSite) -> None:
    site.answers(CITED, citations=[DOCUMENT, CALL])
    ask(page, "What?")
    page.get_by_role("button", name="2 Order change").click()
    source = page.get_by_role("region", name="Source 2: Order change")
    expect(source).to_contain_text("Anna: we need two machines.")
    expect(source.get_by_role("link")).to_have_count(0)


def test_a_suggested_question_is_asked_by_a_click(page: Page, site: ScriptedSite) -> None:
    site.answers("Free in town.")
    page.get_by_role("button", name="How much is delivery?").click()
    expect(answer(page)).to_have_text("Free in town.")
    expect(page.get_by_role("list", name="Often asked")).to_be_hidden()
    assert site.questions == ["How much is delivery?"]


def test_it_says_that_it_searches_until_the_first_words_come(page: Page, site: ScriptedSite) -> None:
    site.answers(held=True, markdown="Here.")
    ask(page, "Where?")
    expect(page.locator(".status")).to_have_text("Looking through the sources")
    site.release()
    expect(page.locator(".status")).to_be_hidden()


def test_a_number_without_a_source_is_no_button(page: Page, site: ScriptedSite) -> None:
    site.answers("One [1], two [7], quoted \\[1\\].", citations=[DOCUMENT])
    ask(page, "What?")
    expect(answer(page)).to_have_text("One 1, two 7, quoted [1].")
    expect(answer(page).get_by_role("button")).to_have_count(1)


def test_stopping_keeps_what_came_and_cancels_the_answer(page: Page, site: ScriptedSite) -> None:
    site.answers("The first half", held=True)
    ask(page, "Tell me everything")
    expect(answer(page)).to_have_text("The first half")
    page.get_by_role("button", name="Stop the answer").click()
    expect(page.locator(".answer")).to_contain_text("You stopped this answer.")
    expect(answer(page)).to_have_text("The first half")
    page.reload()
    opened(page)
    expect(page.locator(".answer")).to_contain_text("You stopped this answer.")
    site.answers("The whole.")
    page.get_by_role("button", name="Ask again").click()
    expect(answer(page)).to_have_text("The whole.")
    assert site.cancelled == [site.asked_ids[0]]


def test_stopping_before_the_server_knows_the_question_is_tried_again(page: Page, site: ScriptedSite) -> None:
    site.unknown_cancels = 2
    site.answers("The first half", held=True)
    ask(page, "Tell me everything")
    expect(answer(page)).to_have_text("The first half")
    with page.expect_response(lambda response: response.url.endswith("/cancel") and response.status == 204):
        page.get_by_role("button", name="Stop the answer").click()
    assert site.cancelled == site.asked_ids


def test_no_second_question_is_sent_while_one_is_answered(page: Page, site: ScriptedSite) -> None:
    site.answers("Wait", held=True)
    ask(page, "First")
    expect(answer(page)).to_have_text("Wait")
    field = page.get_by_role("textbox")
    field.fill("Second")
    field.press("Enter")
    expect(field).to_have_value("Second")
    site.release()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    assert site.questions == ["First"]


def test_a_reload_brings_the_conversation_back_with_its_sources(page: Page, site: ScriptedSite) -> None:
    site.answers(CITED, citations=[DOCUMENT, CALL])
    ask(page, "What does Owl 60 cost?")
    expect(answer(page).get_by_role("button")).to_have_count(2)
    page.reload()
    opened(page)
    expect(page.locator(".own")).to_have_text("What does Owl 60 cost?")
    expect(answer(page).get_by_role("button")).to_have_count(2)
    site.answers("More.")
    ask(page, "And more?")
    expect(answer(page)).to_have_text("More.")
    assert len(site.begun) == 1


def test_a_reload_in_the_middle_of_an_answer_goes_on_with_it(page: Page, site: ScriptedSite) -> None:
    site.answers("The first half", held=True, markdown="The first half and the second.")
    ask(page, "Tell me")
    expect(answer(page)).to_have_text("The first half")
    page.reload()
    opened(page)
    expect(answer(page)).to_have_text("The first half")
    site.release()
    expect(answer(page)).to_have_text("The first half and the second.")
    assert len(site.questions) == 1


def test_a_new_conversation_is_a_new_visitor(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".own")).to_have_count(0)
    expect(page.get_by_role("button", name="How much is delivery?")).to_be_visible()
    site.answers("Two.")
    ask(page, "Second?")
    expect(answer(page)).to_have_text("Two.")
    assert [body.get("renewal") for body in site.begun] == [None, None]
    page.reload()
    opened(page)
    expect(page.locator(".own")).to_have_text("Second?")


def another_tab(page: Page) -> Page:
    tab = page.context.new_page()
    tab.goto(page.url)
    return opened(tab)


def test_tabs_share_their_first_conversation(page: Page, site: ScriptedSite) -> None:
    other = another_tab(page)
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    site.answers("Two.")
    ask(other, "Second?")
    expect(answer(other)).to_have_text("Two.")
    page.reload()
    opened(page)
    expect(page.locator(".own")).to_have_text(["First?", "Second?"])


def test_a_conversation_that_one_tab_has_left_does_not_come_back_by_another(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    other = another_tab(page)
    expect(other.locator(".own")).to_have_text("First?")
    page.get_by_role("button", name="New conversation").click()
    site.expired |= set(site.tokens)
    site.answers("Two.")
    ask(other, "Second?")
    expect(answer(other)).to_have_text("Two.")
    page.reload()
    opened(page)
    expect(page.get_by_role("button", name="How much is delivery?")).to_be_visible()
    expect(page.locator(".own")).to_have_count(0)


def test_focus_stays_in_the_panel_when_what_was_pressed_is_gone(page: Page, site: ScriptedSite) -> None:
    site.answers("450 roubles.")
    page.get_by_role("button", name="How much is delivery?").press("Enter")
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    expect(answer(page)).to_have_text("450 roubles.")
    page.get_by_role("button", name="New conversation").press("Enter")
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    site.contact_status = 503
    page.get_by_role("button", name="Talk to a person").press("Enter")
    page.get_by_role("button", name="Ask for a person").press("Enter")
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()


def test_a_history_that_comes_late_brings_no_old_conversation_back(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    page.get_by_role("button", name="Close chat").click()
    release = site.holds("history")
    with page.expect_request("**/widget/v1/messages"):
        opened(page)
    page.get_by_role("button", name="New conversation").click()
    site.answers("Two.")
    ask(page, "Second?")
    expect(answer(page)).to_have_text("Two.")
    with page.expect_response("**/widget/v1/messages") as history:
        release()
    history.value.finished()
    site.answers("Three.")
    ask(page, "Third?")
    expect(answer(page)).to_have_text("Three.")
    expect(page.locator(".own")).to_have_text(["Second?", "Third?"])


def test_a_token_that_comes_late_brings_no_old_visitor_back(page: Page, site: ScriptedSite) -> None:
    release = site.holds("visitor")
    with page.expect_request("**/widget/v1/visitors"):
        ask(page, "First?")
    page.get_by_role("button", name="New conversation").click()
    site.answers("Two.")
    ask(page, "Second?")
    expect(answer(page)).to_have_text("Two.")
    with page.expect_response("**/widget/v1/visitors") as visitor:
        release()
    visitor.value.finished()
    site.answers("Three.")
    ask(page, "Third?")
    expect(answer(page)).to_have_text("Three.")
    page.reload()
    opened(page)
    expect(page.locator(".own")).to_have_text(["Second?", "Third?"])
    assert site.questions == ["Second?", "Third?"]


def test_an_expired_token_is_renewed_and_the_conversation_goes_on(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    site.expired.add("token-1")
    site.answers("Two.")
    ask(page, "Second?")
    expect(answer(page)).to_have_text("Two.")
    assert len(site.items) == 1


def test_a_renewal_that_is_too_old_begins_anew_silently(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    site.expired.add("token-1")
    site.renewals.clear()
    site.answers("Two.")
    ask(page, "Second?")
    expect(answer(page)).to_have_text("Two.")
    assert len(site.items) == 2


def test_thumbs_are_sent_and_kept_and_taken_back(page: Page, site: ScriptedSite) -> None:
    site.answers("Free.")
    ask(page, "How much?")
    page.get_by_role("button", name="Not helpful").click()
    page.get_by_role("textbox", name="What was wrong?").fill("It is not free.")
    page.get_by_role("button", name="Send the comment").click()
    expect(page.locator(".said")).to_have_text("Thank you, noted.")
    page.reload()
    opened(page)
    expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "true")
    with page.expect_response("**/widget/v1/feedback"):
        page.get_by_role("button", name="Not helpful").click()
    expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "false")
    reply = next(iter(site.items.values()))[1]["id"]
    assert site.votes == [
        {"message_id": reply, "value": "down"},
        {"message_id": reply, "value": "down", "comment": "It is not free."},
        {"message_id": reply, "value": None},
    ]


def test_an_answer_is_copied_as_it_was_written(open_page: OpenPage, site: ScriptedSite) -> None:
    page = opened(open_page(permissions=["clipboard-read", "clipboard-write"]))
    site.answers("It is **free**.")
    ask(page, "How much?")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "It is **free**."


def test_a_russian_page_gets_a_russian_widget(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page(locale="ru-RU")
    page.get_by_role("button", name="Открыть чат").click()
    expect(page.get_by_role("textbox", name="Ваш вопрос")).to_be_visible()
    expect(page.locator(".title")).to_have_attribute("lang", "en")  # the chat's own words are English


def test_it_speaks_only_the_languages_that_the_account_allows(open_page: OpenPage, site: ScriptedSite) -> None:
    site.config["languages"] = ["ru"]
    page = open_page(locale="en-GB")
    expect(page.get_by_role("button", name="Открыть чат")).to_be_visible()


def test_a_question_has_at_most_4000_characters(page: Page, site: ScriptedSite) -> None:
    field = page.get_by_role("textbox")
    field.fill("x" * 3_700)
    expect(page.locator(".counter")).to_have_text("300 characters left.")
    field.press("End")
    page.keyboard.insert_text("y" * 400)
    expect(page.locator(".counter")).to_have_text("0 characters left.")
    assert len(field.input_value()) == 4_000


@pytest.mark.parametrize("accent", ["#ffd400", "#0f6b5c", "#000000", "#ffffff", "#e91e63"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_accent_stays_readable(open_page: OpenPage, site: ScriptedSite, accent: str, scheme: str) -> None:
    site.config["theme"] = {"accent": accent, "scheme": scheme, "position": "left"}
    page = opened(open_page())
    frame = "document.querySelector('parley-widget').shadowRoot.querySelector('.frame')"
    colours = {
        name: page.evaluate(f"{frame}.style.getPropertyValue('--{name}')")
        for name in ("fill", "on-fill", "accent", "tint")
    }
    paper = "rgb(255 255 255)" if scheme == "light" else "rgb(24 27 29)"
    assert contrast(colours["fill"], colours["on-fill"]) >= 4.5
    assert contrast(colours["accent"], paper) >= 4.5
    assert contrast(colours["accent"], colours["tint"]) >= 4.45  # channels are rounded to whole numbers
    box = page.get_by_role("dialog").bounding_box()
    assert box is not None
    assert box["x"] < 100


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split()]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
