"""The page at `/`: asking, the answer that streams in, its sources, and the conversation that stays."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.support.scripted_widget import ScriptedSite
from tests.ui.conftest import OpenPage, ask

pytestmark = pytest.mark.browser

DOCUMENT = {"title": "Rental prices", "snippet": "Owl 60 costs 9 800 a month.", "page": 3, "citation": 1}
CALL = {
    "kind": "call",
    "channel_type": "phone",
    "occured_at": "2026-11-12T10:15:00+03:00",
    "title": "Order change",
    "snippet": "Anna: we need two machines.",
    "start_ms": 194_000,
    "citation": 2,
}
CONTEXT = {"documents": [DOCUMENT], "communications": [CALL]}
CITED = "It costs **9 800** [1]. Anna ordered two [2]."


def test_it_greets_and_offers_the_chats_own_questions(page: Page, site: ScriptedSite) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Polar Owl")
    expect(page.locator("#greeting")).to_contain_text("coffee machines")
    expect(page).to_have_title("Polar Owl — Parley")
    expect(page.locator("#suggestions button")).to_have_text(site.config["suggestions"])
    assert site.tokens == []


def test_a_suggested_question_is_asked_by_a_click(page: Page, site: ScriptedSite) -> None:
    site.answers("Free in town.")
    page.get_by_role("button", name="How much is delivery?").click()
    expect(page.locator(".markdown")).to_have_text("Free in town.")
    expect(page.locator("#suggestions")).to_be_hidden()
    assert site.questions == ["How much is delivery?"]


def test_the_answer_streams_in_and_the_final_text_replaces_it(page: Page, site: ScriptedSite) -> None:
    site.answers("Доставка ", "**беспл", held=True, markdown="Доставка **бесплатная**.")
    ask(page, "Сколько стоит доставка?")
    expect(page.locator(".markdown")).to_have_text("Доставка беспл")  # open bold shows no bare asterisks
    expect(page.locator("li.agent")).to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("button", name="Stop the answer")).to_be_visible()
    site.release()
    expect(page.locator(".markdown")).to_have_text("Доставка бесплатная.")
    expect(page.locator(".markdown strong")).to_have_text("бесплатная")
    expect(page.locator("li.agent")).not_to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Доставка бесплатная.")


def test_it_says_that_it_searches_until_the_first_words_come(page: Page, site: ScriptedSite) -> None:
    site.answers(held=True, markdown="Here.")
    ask(page, "Where?")
    expect(page.locator(".status")).to_have_text("Looking through the sources")
    site.release()
    expect(page.locator(".status")).to_be_hidden()


def test_a_citation_opens_the_sources_and_moves_to_its_own(page: Page, site: ScriptedSite) -> None:
    site.answers(CITED, context=CONTEXT)
    ask(page, "What does Owl 60 cost?")
    sources = page.locator(".sources li")
    expect(sources.first).to_be_hidden()
    page.get_by_role("button", name="Source 2: Order change").click()
    expect(sources).to_have_count(2)
    expect(sources.nth(1)).to_be_focused()
    expect(sources.nth(0)).to_contain_text("Document · p. 3")
    expect(sources.nth(0)).to_contain_text("Owl 60 costs 9 800 a month.")
    expect(sources.nth(1)).to_contain_text("Call · 12 November 2026 · 3:14")
    toggle = page.get_by_role("button", name="Sources")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    toggle.click()
    expect(sources.first).to_be_hidden()


def test_an_answer_that_found_nothing_is_plain(page: Page, site: ScriptedSite) -> None:
    site.answers("Nothing was found.", found=False)
    ask(page, "Who won?")
    expect(page.locator(".markdown")).to_have_text("Nothing was found.")
    expect(page.locator(".toggle")).to_have_count(0)
    expect(page.locator(".notice")).to_have_count(0)


def test_a_number_without_a_source_is_no_button(page: Page, site: ScriptedSite) -> None:
    site.answers("One [1], two [7], quoted \\[1\\].", context={"documents": [DOCUMENT]})
    ask(page, "What?")
    expect(page.locator("button.citation")).to_have_count(1)
    expect(page.locator(".markdown")).to_have_text("One 1, two 7, quoted [1].")


def test_stopping_keeps_what_came_and_lets_the_server_go(page: Page, site: ScriptedSite) -> None:
    site.answers("The first half", held=True)
    ask(page, "Tell me everything")
    expect(page.locator(".markdown")).to_have_text("The first half")
    page.get_by_role("button", name="Stop the answer").click()
    expect(page.locator("li.agent")).to_contain_text("You stopped this answer.")
    expect(page.locator(".markdown")).to_have_text("The first half")
    assert site.hung_up.wait(10)
    site.answers("Short.")
    ask(page, "Shorter, please")
    expect(page.locator(".markdown").last).to_have_text("Short.")


def test_no_second_question_is_sent_while_one_is_answered(page: Page, site: ScriptedSite) -> None:
    site.answers("Wait", held=True)
    ask(page, "First")
    expect(page.locator(".markdown")).to_have_text("Wait")
    field = page.get_by_role("textbox")
    field.fill("Second")
    field.press("Enter")
    expect(field).to_have_value("Second")
    site.release()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    assert site.questions == ["First"]


def test_a_reload_brings_the_conversation_back_with_its_sources(page: Page, site: ScriptedSite) -> None:
    site.answers(CITED, context=CONTEXT)
    ask(page, "What does Owl 60 cost?")
    expect(page.locator("button.citation")).to_have_count(2)
    page.reload()
    expect(page.locator("li.visitor")).to_contain_text("What does Owl 60 cost?")
    expect(page.locator("button.citation")).to_have_count(2)
    site.answers("More.")
    ask(page, "And more?")
    expect(page.locator(".markdown").last).to_have_text("More.")
    assert site.tokens == ["token-1"]


def test_a_new_conversation_is_a_new_visitor(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(page.locator(".markdown")).to_have_text("One.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#messages li")).to_have_count(0)
    expect(page.locator("#suggestions")).to_be_visible()
    expect(page.get_by_role("textbox")).to_be_focused()
    site.answers("Two.")
    ask(page, "Second?")
    expect(page.locator(".markdown")).to_have_text("Two.")
    assert site.tokens == ["token-1", "token-2"]


def test_a_new_conversation_leaves_the_answer_that_was_coming(page: Page, site: ScriptedSite) -> None:
    site.answers("Half", held=True)
    ask(page, "First?")
    expect(page.locator(".markdown")).to_have_text("Half")
    page.get_by_role("button", name="New conversation").click()
    assert site.hung_up.wait(10)
    expect(page.locator("#messages li")).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_be_visible()


@pytest.mark.parametrize("reload", [False, True])
def test_an_expired_visitor_becomes_a_new_one_silently(page: Page, site: ScriptedSite, reload: bool) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(page.locator(".markdown")).to_have_text("One.")
    site.expired.add("token-1")
    if reload:
        page.reload()
        expect(page.locator("#suggestions")).to_be_visible()
    site.answers("Two.")
    ask(page, "Second?")
    expect(page.locator(".markdown").last).to_have_text("Two.")
    expect(page.locator(".notice")).to_have_count(0)
    assert site.questions == ["First?", "Second?"]


def test_a_russian_browser_gets_a_russian_page(open_page: OpenPage) -> None:
    page = open_page(locale="ru-RU")
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    expect(page.get_by_role("textbox", name="Ваш вопрос")).to_be_visible()
    expect(page.locator("#title")).to_have_attribute("lang", "en")  # the chat's own words are English


def test_a_question_has_at_most_4000_characters(page: Page, site: ScriptedSite) -> None:
    field = page.get_by_role("textbox")
    field.fill("x" * 3_700)
    expect(page.locator("#counter")).to_have_text("300 characters left.")
    field.press("End")
    page.keyboard.insert_text("y" * 400)
    expect(page.locator("#counter")).to_have_text("0 characters left.")
    assert len(field.input_value()) == 4_000


def test_the_snippets_name_this_server(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: An AI agent, by MCP").click()
    expect(page.get_by_role("button", name="Copy: An AI agent, by MCP")).to_have_text("Copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["mcpServers"]["parley"]["url"] == f"{site.base_url}/mcp"
