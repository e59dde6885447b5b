"""The Preact that the widget is built with, most of which is cut away: what is left draws any tree over any other."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.npm_tools import NODE

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent
VITE = HERE.parents[1] / "ui" / "node_modules" / "vite"
TREES = (HERE / "widget_preact_trees.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_with_preact(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if not VITE.is_dir():
        pytest.skip("Vite is not installed (npm ci in ui/)")
    script = tmp_path_factory.mktemp("preact") / "preact.js"
    subprocess.run([NODE, HERE / "widget_preact.mjs", script], check=True, timeout=60)
    page = browser.new_page()
    page.add_script_tag(path=script)
    yield page
    page.close()


@pytest.mark.parametrize("seed", range(1, 6))
def test_any_tree_is_drawn_over_any_other(page_with_preact: Page, seed: int) -> None:
    assert page_with_preact.evaluate(f"({TREES.strip().removesuffix(';')})({seed})") is None


def test_what_stays_is_the_same_element(page_with_preact: Page) -> None:
    """With the visitor's caret, selection and scrolling."""
    assert page_with_preact.evaluate("""() => {
        const { h, render } = Preact;
        const place = document.createElement("div");
        const list = (keys) => h("ul", null, keys.map((key) => h("li", { key }, key)));
        const drawn = (keys) => {
            render(list(keys), place);
            return Object.fromEntries([...place.querySelectorAll("li")].map((each) => [each.textContent, each]));
        };
        const first = drawn([..."abcdef"]);
        const second = drawn([..."fbxace"]);
        return [place.textContent, [..."abcef"].every((key) => first[key] === second[key])];
    }""") == ["fbxace", True]


def test_a_field_shows_what_is_drawn_whatever_was_typed(page_with_preact: Page) -> None:
    assert page_with_preact.evaluate("""() => {
        const { h, render } = Preact;
        const place = document.createElement("div");
        const typed = [];
        const onInput = (event) => typed.push(event.target.value);
        const draw = (value) => render(h("textarea", { value, onInput }), place);
        draw("");
        const field = place.firstChild;
        field.value = "Typed";
        field.dispatchEvent(new Event("input"));
        draw("");
        return [typed, field.value, field === place.firstChild];
    }""") == [["Typed"], "", True]
