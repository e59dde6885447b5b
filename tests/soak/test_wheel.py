"""The wheel as a user has it: built and installed by the scripts that the Dockerfile runs, without the sources."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.soak.conftest import SMALL, Size
from tests.support.server import free_port

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
BUILD_S, START_S, STOP_S = 900.0, 180.0, 120.0


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, size: Size) -> Path:
    """The folder of an environment with the wheel and what it depends on, and nothing else. At the small size, which
    has no time to fetch all of that again, it is the tests' own."""
    folder = tmp_path_factory.mktemp("wheel")
    environment, wheels = folder / "environment", folder / "dist"
    run(ROOT / "scripts/build-wheel", wheels)
    if size is not SMALL:
        run(ROOT / "scripts/install-wheel", environment, wheels)
        return environment
    run(sys.executable, "-m", "venv", environment)
    run(environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", *wheels.glob("*.whl"))
    # Of a folder that is named so, the files that would lead to the sources are not read.
    (place,) = environment.glob("lib/python*/site-packages")
    (place / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return environment


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == 0, f"{command[0]}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@contextmanager
def serving(installed: Path, data: Path) -> Iterator[str]:
    port = free_port()
    environment = {
        "PATH": f"{installed / 'bin'}:/usr/bin:/bin",
        "HOME": str(data),
        "PARLEY_DATA_DIR": str(data),
        "PARLEY_PORT": str(port),
        "PARLEY_LLM_MODEL": "none",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    subprocess.run(["parley", "migrate", "--quiet"], env=environment, cwd=data, check=True, timeout=START_S)
    with (data / "log").open("wb") as log:
        process = subprocess.Popen(["parley", "serve"], env=environment, cwd=data, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                    break
            except httpx2.HTTPError:
                pass
            assert process.poll() is None, (data / "log").read_text()
            assert time.monotonic() < deadline, (data / "log").read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_S) == 0
    finally:
        process.kill()
        process.wait()


def test_the_wheel_serves_every_page_without_node_or_sources(installed: Path, tmp_path: Path) -> None:
    found = subprocess.run([installed / "bin" / "parley", "doctor"], capture_output=True, cwd=tmp_path, check=False)
    assert b"the pages are built" in found.stdout, found
    with serving(installed, tmp_path) as url:
        for path in ("/", "/docs", "/widget.js", "/openapi/public.json", "/docs/mcp.md"):
            answer = httpx2.get(url + path, follow_redirects=True)
            assert answer.status_code == 200, f"{path}: {answer.status_code}"
        # Who is not signed in gets the cabinet's own page for that.
        cabinet = httpx2.get(url + "/cabinet")
        assert (cabinet.status_code, cabinet.headers["Content-Type"]) == (401, "text/html; charset=utf-8")
        assert "/assets/pages-" in cabinet.text
        script = httpx2.get(url + "/widget.js").text
        assert "sourceMappingURL" not in script
        assert len(script) > 500
