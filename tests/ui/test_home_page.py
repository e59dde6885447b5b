"""The page at `/`: the trial upload from the file to the result, the widget on it, and that it reads by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.contract.recordings import spoken, tone, wav
from tests.support.server import Account, RunningServer
from tests.ui.conftest import NARROW, PHONE, OpenPage, findings, width_over

pytestmark = pytest.mark.browser

RESULT_MS = 240_000


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of its own: its trials are counted by address, and all tests have one."""
    running = RunningServer(tmp_path_factory.mktemp("home"), sweep_s="0.5")
    try:
        yield running.start()
    finally:
        running.close()


def file(name: str, content: bytes) -> dict[str, object]:
    return {"name": name, "mimeType": "audio/wav", "buffer": content}


def send(page: Page, name: str, content: bytes) -> None:
    page.locator("#file").set_input_files(file(name, content))  # type: ignore[arg-type]


@pytest.mark.models
@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
@pytest.mark.proves("trial.result")
def test_a_visitor_hears_and_reads_their_recording(
    open_page: OpenPage, place: RunningServer, size: dict[str, int] | None
) -> None:
    page = open_page(place.url + "/", **({"viewport": size} if size else {}))
    name = "<img src=x onerror=alert(1)>.wav"
    send(page, name, wav(spoken("01", 0, 15)))
    expect(page.get_by_role("heading", name=name)).to_be_visible(timeout=RESULT_MS)
    expect(page.locator(".lines li").first).to_be_visible()
    expect(page.locator(".result-summary p")).not_to_be_empty()
    expect(page.locator("audio")).to_have_js_property("error", None)
    assert findings(page) == []
    assert width_over(page) == 0
    # The result outlives the page, and whoever has its address may have it deleted.
    page.reload()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("button", name="Delete now").click()
    expect(page.get_by_text("Deleted: nothing of it is left")).to_be_visible()
    expect(page.get_by_role("button", name="Choose a recording")).to_be_focused()
    assert "#" not in page.url


def test_the_third_recording_and_what_is_no_recording_are_refused_in_words(open_page: OpenPage, tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "own", sweep_s="0.5")
    try:
        page = open_page(running.start().url)
        page.get_by_role("link", name="Русский").click()
        send(page, "note.wav", b"no sound at all")
        expect(page.get_by_text("В этом файле не нашлось звука")).to_be_visible()
        send(page, "big.wav", bytes(16 * 1024 * 1024 + 1))
        expect(page.get_by_text("Файл больше 16 МБ")).to_be_visible()
        for _ in range(2):
            send(page, "tone.wav", wav(tone(1)))
            expect(page.get_by_role("heading", name="tone.wav")).to_be_visible(timeout=RESULT_MS)
            page.get_by_role("button", name="Другая запись").click()
        send(page, "tone.wav", wav(tone(1)))
        expect(page.get_by_text("Для пробы хватит двух записей в час")).to_be_visible()
        assert findings(page) == []
    finally:
        running.close()


def test_a_link_to_what_is_gone_says_so(open_page: OpenPage, place: RunningServer) -> None:
    page = open_page(place.url)
    page.goto(place.url + "/?lang=en#result=unknown")
    expect(page.get_by_text("This result is gone")).to_be_visible()
    expect(page.get_by_role("button", name="Choose a recording")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_it_has_no_axe_finding_and_fits(open_page: OpenPage, place: RunningServer, scheme: str, locale: str) -> None:
    page = open_page(place.url + "/", color_scheme=scheme, locale=locale)
    expect(page.locator("html")).to_have_attribute("lang", locale[:2])
    assert findings(page) == []
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert width_over(page) == 0


def test_the_other_language_is_one_link_away(open_page: OpenPage, place: RunningServer) -> None:
    page = open_page(place.url + "/")
    page.get_by_role("link", name="Русский").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Все разговоры компании")


def test_it_reads_without_scripts(browser: Browser, place: RunningServer) -> None:
    context = browser.new_context(java_script_enabled=False, locale="ru-RU")
    try:
        page = context.new_page()
        page.goto(place.url + "/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Все разговоры компании")
        expect(page.locator(".no-trial")).to_be_visible()
        expect(page.get_by_role("link", name="Справочник API")).to_be_visible()
        expect(page.get_by_role("button")).to_have_count(0)
    finally:
        context.close()


def test_with_a_chat_its_questions_go_to_the_widget(open_page: OpenPage, tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "chat")
    account: Account = running.new_client("the site's own")
    running.environment["PARLEY_SITE_WIDGET_KEY"] = account.made.chat.public_key
    try:
        page = open_page(running.start().url + "/")
        page.get_by_role("button", name="What does Owl 60 cost a month?").click()
        expect(page.locator("parley-widget")).to_contain_text("What does Owl 60 cost a month?")
        page.get_by_role("link", name="Open the demo company’s site").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Good coffee")
        expect(page.locator("parley-widget")).to_have_count(1)
        page.get_by_role("link", name="What is Parley?").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Every conversation")
    finally:
        running.close()
