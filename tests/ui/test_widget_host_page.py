"""The widget as a guest: on another company's page, at another origin, under that page's strict policy."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import OpenPage, answer, ask, findings
from tests.ui.scripted_widget import KEY, ScriptedSite, serve_host_page

pytestmark = pytest.mark.browser

SOURCE = {"citation": 1, "kind": "document", "title": "Prices", "url": None, "page": 1, "snippet": "Free."}
BEFORE = (
    "<script nonce='n'>window.Parley = window.Parley || function () { (Parley.q = Parley.q || []).push(arguments) }"
)
# Rules of a page that shouts: nothing of them may reach the widget.
LOUD = (
    "* { font-size: 31px !important; color: red !important; letter-spacing: 9px } button { display: none !important }"
)


class HostPage:
    """`html` is what the next visit gets."""

    html = ""
    url = ""


@pytest.fixture
def host(site: ScriptedSite) -> Iterator[HostPage]:
    page = HostPage()
    policy = (
        f"default-src 'none'; script-src {site.base_url} 'nonce-n'; style-src 'nonce-n'; connect-src {site.base_url}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    with serve_host_page(lambda: page.html, policy) as url:
        page.url = url
        page.html = html(snippet(site))
        yield page


def snippet(site: ScriptedSite, attributes: str = "") -> str:
    return f'<script src="{site.base_url}/widget.js" data-widget-key="{KEY}" {attributes} async></script>'


def html(inside: str) -> str:
    return (
        "<!doctype html><html lang='en'><head><title>Host</title></head>"
        f"<body><main><h1>Host</h1><p>Own words</p><button>Press</button></main>{inside}</body></html>"
    )


def opened(page: Page) -> Page:
    page.get_by_role("button", name="Open chat").click()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    return page


def test_it_works_under_a_strict_policy_of_another_origin(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    page = opened(open_page(host.url))
    site.answers("It is ", "free [1].", citations=[SOURCE], cut_after=2)
    ask(page, "How much?")
    expect(answer(page)).to_have_text("It is free 1.")
    page.get_by_role("button", name="Source 1: Prices").click()
    expect(page.get_by_role("region", name="Source 1: Prices")).to_contain_text("Free.")
    page.get_by_role("button", name="Helpful", exact=True).click()
    expect(page.locator(".said")).to_have_text("Thank you, noted.")
    assert page.locator(".panel").evaluate("node => getComputedStyle(node).position") == "absolute"  # styles came
    assert findings(page) == []


def test_it_leaves_one_name_one_element_and_no_style_on_the_page(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    host.html = html("")
    bare = open_page(host.url)
    names = "Object.getOwnPropertyNames(window)"
    before = set(bare.evaluate(names))
    look = "JSON.stringify([...document.querySelectorAll('main *')].map(node => ({...getComputedStyle(node)})))"
    looks = bare.evaluate(look)
    host.html = html(snippet(site))
    page = opened(open_page(host.url))
    assert set(page.evaluate(names)) - before == {"Parley"}
    assert page.evaluate(look) == looks
    assert page.evaluate("[...document.body.children].map(node => node.localName)") == [
        "main",
        "script",
        "parley-widget",
    ]
    assert page.evaluate("document.head.querySelectorAll('style, link, script').length") == 0
    assert page.evaluate("document.adoptedStyleSheets.length + document.cookie.length") == 0


def test_the_pages_own_loud_rules_do_not_reach_it(open_page: OpenPage, site: ScriptedSite, host: HostPage) -> None:
    host.html = html(f"<style nonce='n'>{LOUD}</style>{snippet(site)}")
    page = opened(open_page(host.url))
    field = page.get_by_role("textbox", name="Your question")
    assert field.evaluate("node => getComputedStyle(node).fontSize") == "16px"
    assert field.evaluate("node => getComputedStyle(node).letterSpacing") == "normal"
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


def test_keys_pressed_in_it_are_not_the_pages_shortcuts(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    listen = "<script nonce='n'>window.keys = []; addEventListener('keydown', event => keys.push(event.key))</script>"
    host.html = html(listen + snippet(site))
    page = opened(open_page(host.url))
    page.get_by_role("textbox", name="Your question").press("k")
    assert page.evaluate("keys") == []


def test_the_page_speaks_to_it_before_and_after_it_is_there(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    calls = """
      window.seen = [];
      for (const name of ["ready", "open", "close", "message", "answer"])
        Parley("on", name, detail => seen.push([name, detail?.text ?? null]));
      Parley("send", "From the page");
    </script>"""
    host.html = html(BEFORE + calls + snippet(site))
    site.answers("Here.")
    page = open_page(host.url)
    expect(answer(page)).to_have_text("Here.")
    page.evaluate("Parley('close')")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.evaluate("Parley('toggle')")
    expect(page.get_by_role("dialog")).to_be_visible()
    seen = page.evaluate("seen")
    assert sorted(map(json.dumps, seen[:2])) == ['["open", null]', '["ready", null]']
    assert seen[2:] == [
        ["message", "From the page"],
        ["answer", "Here."],
        ["close", None],
        ["open", None],
    ]


def test_questions_of_the_page_wait_for_the_answer_that_is_coming(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    page = opened(open_page(host.url))
    site.answers("One.", held=True)
    ask(page, "First")
    expect(answer(page)).to_have_text("One.")
    page.evaluate("Parley('send', 'Second'); Parley('send', 'Third')")
    site.answers("Two.")
    site.answers("Three.")
    site.release()
    expect(page.locator(".own")).to_have_text(["First", "Second", "Third"])
    expect(page.locator("parley-widget .markdown")).to_have_text(["One.", "Two.", "Three."])
    assert site.questions == ["First", "Second", "Third"]


def test_a_mistake_of_the_pages_listener_does_not_stop_it(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    host.html = html(BEFORE + "; Parley('on', 'open', 'not a function'); Parley('nonsense')</script>" + snippet(site))
    opened(open_page(host.url))


def test_a_check_for_people_is_the_pages_to_give(open_page: OpenPage, site: ScriptedSite, host: HostPage) -> None:
    site.needs_captcha = True
    site.config["captcha"] = {"site_key": "k", "script_url": "https://captcha.example/x.js"}
    host.html = html(BEFORE + "; Parley('captcha', async () => 'solved')</script>" + snippet(site))
    page = opened(open_page(host.url))
    site.answers("Free.")
    ask(page, "How much?")
    expect(answer(page)).to_have_text("Free.")


def test_the_snippet_may_choose_the_language_and_direction(
    open_page: OpenPage, site: ScriptedSite, host: HostPage
) -> None:
    host.html = html(snippet(site, 'data-language="ru" data-dir="rtl"'))
    page = open_page(host.url)
    page.get_by_role("button", name="Открыть чат").click()
    expect(page.get_by_role("textbox", name="Ваш вопрос")).to_be_visible()
    assert page.locator(".panel").evaluate("node => getComputedStyle(node).direction") == "rtl"


def test_the_snippet_twice_is_one_widget(open_page: OpenPage, site: ScriptedSite, host: HostPage) -> None:
    host.html = html(snippet(site) * 2)
    page = opened(open_page(host.url))
    expect(page.locator("parley-widget")).to_have_count(1)
