"""The browser of tests, benches and screenshots: Debian's chromium without a window.

Its headless shell: the whole chromium has renderers and models of its own interface beside the page, and of hundreds of
tests on two cores one now and then waited for it for ever.
"""

from __future__ import annotations

from pathlib import Path

CHROMIUM = Path("/usr/bin/chromium-headless-shell")
