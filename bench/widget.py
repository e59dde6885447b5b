"""What the site widget costs the page that it is on, in a real browser: `python -m bench.widget [TIMES]`.

An empty page with the widget's snippet and the same one without it are loaded in turn, each in a browser context of its
own. Work on the main thread is what the browser counts until a second after `load`; the widget's is what the medians
differ by. Needs the built web part and Debian's chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Route, sync_playwright

from tests.support.browser import CHROMIUM
from tests.support.server import RunningServer

TIMES = 15
SETTLES_MS = 1_000
MOST_WORK_MS = 50.0
PAGE = "<!doctype html><html lang=en><title>Page</title><h1>A page</h1>{snippet}<p>Its text</p></html>"
LONG_TASKS = (
    "new PerformanceObserver(l => (self.long = [...(self.long ?? []), ...l.getEntries().map(e => e.duration)]))"
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Milliseconds: main-thread work, until DOMContentLoaded, and each task of over 50."""

    work_ms: float
    parsed_ms: float
    long_ms: list[float]


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder))
        try:
            server.start()
            key = server.new_client("bench", features=["chat"]).made.chat.public_key
            snippet = f'<script src="{server.url}/widget.js" data-widget-key="{key}" async></script>'
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                pairs = [(load(browser, server.url, snippet), load(browser, server.url, "")) for _ in range(times)]
                browser.close()
        finally:
            server.close()
    return 0 if said([with_it for with_it, _ in pairs], [without for _, without in pairs]) else 1


def load(browser: Browser, base: str, snippet: str) -> Loaded:
    def answer(route: Route) -> None:
        route.fulfill(content_type="text/html", body=PAGE.format(snippet=snippet))

    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(f"{LONG_TASKS}.observe({{ type: 'longtask', buffered: true }})")
    page.route(f"{base}/host-page", answer)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(f"{base}/host-page", wait_until="load")
    page.wait_for_timeout(SETTLES_MS)
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    long_ms = page.evaluate("self.long ?? []")
    context.close()
    return Loaded(metrics["TaskDuration"] * 1000, timing, long_ms)


def said(with_it: list[Loaded], without: list[Loaded]) -> bool:
    work_ms = statistics.median(each.work_ms for each in with_it) - statistics.median(each.work_ms for each in without)
    parsed_ms = [statistics.median(each.parsed_ms for each in side) for side in (with_it, without)]
    longest_ms = max((task for each in with_it for task in each.long_ms), default=0.0)
    print(f"main-thread work of the widget: {work_ms:.1f} ms; longest task over 50 ms: {longest_ms:.0f} ms")
    print(f"until DOMContentLoaded: {parsed_ms[0]:.0f} ms with it, {parsed_ms[1]:.0f} ms without")
    holds = work_ms < MOST_WORK_MS
    print(f"under {MOST_WORK_MS:.0f} ms of work at load: {'holds' if holds else 'does NOT hold'}")
    return holds


if __name__ == "__main__":
    sys.exit(main())
