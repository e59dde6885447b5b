"""Markdown that others wrote is shown, and does nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import answer, ask
from tests.ui.scripted_widget import ScriptedSite

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
    expect(answer(page)).to_contain_text("The end.")
    expect(answer(page).locator("script, img, svg, iframe, style, form, input, a")).to_have_count(0)
    expect(page).to_have_title("Polar Owl — coffee machines to rent")


@pytest.mark.parametrize("markdown", [">" * 5_000 + " deep", "- " * 3_000 + "deep", "*" * 4_000, "[" * 4_000])
def test_nesting_without_end_is_still_shown(page: Page, site: ScriptedSite, markdown: str) -> None:
    site.answers(markdown)
    ask(page, "How deep?")
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_be_visible()
    expect(page.locator(".notice")).to_have_count(0)


def test_a_link_opens_elsewhere_and_names_its_host(page: Page, site: ScriptedSite) -> None:
    site.answers("See [prices](https://example.com/p?a=1) or https://example.org/x for more.")
    ask(page, "Where?")
    links = answer(page).locator("a")
    expect(links).to_have_count(2)
    named, bare = links.nth(0), links.nth(1)
    expect(named).to_have_text("prices (example.com)")
    expect(bare).to_have_text("https://example.org/x")
    for link in (named, bare):
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")


def test_a_link_whose_text_is_another_address_shows_where_it_leads(page: Page, site: ScriptedSite) -> None:
    site.answers("[https://bank.example](https://evil.example/)")
    ask(page, "Where?")
    expect(answer(page).locator("a")).to_have_text("https://bank.example (evil.example)")


def test_a_definition_turns_no_citation_into_a_link(page: Page, site: ScriptedSite) -> None:
    source = {"citation": 1, "kind": "document", "title": "Prices", "url": None, "page": None, "snippet": "Free."}
    site.answers("It is free [1].\n\n[1]: https://evil.example/\n\nSee [1](https://evil.example/x)", citations=[source])
    ask(page, "How much?")
    expect(page.get_by_role("button", name="Source 1: Prices")).to_have_count(3)
    for link in answer(page).locator("a").all():
        assert "evil.example" in link.inner_text()


def test_the_usual_markdown_is_rendered(page: Page, site: ScriptedSite) -> None:
    site.answers(
        "## Prices\n\nA *soft* and **loud** `code` &amp; more.\n\n3. three\n4. four\n   - inner\n\n"
        "> quoted [1]\n\n| Model | Price |\n|---|--:|\n| Owl | 9 800 |\n\n```sh\nmake run\n```\n\n---\n\n~~old~~"
    )
    ask(page, "Show me")
    shown = answer(page)
    expect(shown.get_by_role("heading", level=3)).to_have_text("Prices")
    expect(shown.locator("p").first).to_have_text("A soft and loud code & more.")
    expect(shown.locator("ol")).to_have_attribute("start", "3")
    expect(shown.locator("ol ul li")).to_have_text("inner")
    expect(shown.locator("blockquote .citation")).to_have_text("1")
    expect(shown.get_by_role("cell", name="9 800")).to_have_class("align-right")
    expect(shown.locator("pre")).to_have_text("make run")
    expect(shown.locator("hr, del")).to_have_count(2)
