"""Markdown that others wrote is shown, and does nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.scripted_widget import ScriptedSite
from tests.ui.conftest import ask

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "before <img src=x onerror=\"document.title='owned'\"> after",
    "<svg onload=\"document.title='owned'\"></svg>",
    "<iframe src='https://evil.example/'></iframe>",
    "[press](javascript:document.title='owned')",
    "[press](JaVaScRiPt:alert(1))",
    "[press](data:text/html,<script>1</script>)",
    "[press](vbscript:x)",
    "![picture](https://evil.example/pixel.png)",
    "![](https://evil.example/pixel.png)",
    "[![p](https://evil.example/p.png)](javascript:alert(1))",
    "<style>body { display: none }</style>",
    "<https://user:secret@evil.example/>",
    "<form action='https://evil.example/'><input name=password></form>",
    "&lt;img src=x onerror=alert(1)&gt;",
    "```html\n<script>document.title = 'owned'</script>\n```",
]


@pytest.mark.parametrize("markdown", HOSTILE)
def test_hostile_markdown_stays_text(page: Page, site: ScriptedSite, markdown: str) -> None:
    site.answers(f"Hello. {markdown}\n\n{markdown}\n\nThe end.")
    ask(page, "Hello?")
    answer = page.locator(".markdown")
    expect(answer).to_contain_text("The end.")
    expect(answer.locator("script, img, svg, iframe, style, form, input, a")).to_have_count(0)
    expect(page).to_have_title("Polar Owl — Parley")


@pytest.mark.parametrize("markdown", [">" * 5_000 + " deep", "- " * 3_000 + "deep", "*" * 4_000, "[" * 4_000])
def test_nesting_without_end_is_still_shown(page: Page, site: ScriptedSite, markdown: str) -> None:
    site.answers(markdown)
    ask(page, "How deep?")
    expect(
        page.locator("li.agent:not([aria-busy]) .actions, li.agent:not([aria-busy]) .markdown").first
    ).to_be_visible()
    expect(page.locator(".notice")).to_have_count(0)


def test_a_link_opens_elsewhere_and_names_its_host(page: Page, site: ScriptedSite) -> None:
    site.answers("See [prices](https://example.com/p?a=1) or https://example.org/x for more.")
    ask(page, "Where?")
    links = page.locator(".markdown a")
    expect(links).to_have_count(2)
    named, bare = links.nth(0), links.nth(1)
    expect(named).to_have_text("prices (example.com)")
    expect(bare).to_have_text("https://example.org/x")
    for link in (named, bare):
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_a_link_whose_text_is_another_address_shows_where_it_leads(page: Page, site: ScriptedSite) -> None:
    site.answers("[https://bank.example](https://evil.example/)")
    ask(page, "Where?")
    expect(page.locator(".markdown a")).to_have_text("https://bank.example (evil.example)")


def test_a_definition_turns_no_citation_into_a_link(page: Page, site: ScriptedSite) -> None:
    context = {"documents": [{"title": "Prices", "snippet": "Free.", "page": None, "citation": 1}]}
    site.answers("It is free [1].\n\n[1]: https://evil.example/\n\nSee [1](https://evil.example/x)", context=context)
    ask(page, "How much?")
    expect(page.get_by_role("button", name="Source 1: Prices")).to_have_count(3)
    for link in page.locator(".markdown a").all():
        assert "evil.example" in link.inner_text()


def test_the_usual_markdown_is_rendered(page: Page, site: ScriptedSite) -> None:
    site.answers(
        "## Prices\n\nA *soft* and **loud** `code` &amp; more.\n\n3. three\n4. four\n   - inner\n\n"
        "> quoted [1]\n\n| Model | Price |\n|---|--:|\n| Owl | 9 800 |\n\n```sh\nmake run\n```\n\n---\n\n~~old~~"
    )
    ask(page, "Show me")
    answer = page.locator(".markdown")
    expect(answer.get_by_role("heading", level=3)).to_have_text("Prices")
    expect(answer.locator("p").first).to_have_text("A soft and loud code & more.")
    expect(answer.locator("ol")).to_have_attribute("start", "3")
    expect(answer.locator("ol ul li")).to_have_text("inner")
    expect(answer.locator("blockquote .citation")).to_have_text("1")
    expect(answer.get_by_role("cell", name="9 800")).to_have_class("align-right")
    expect(answer.locator("pre")).to_have_text("make run")
    expect(answer.locator("hr, del")).to_have_count(2)
