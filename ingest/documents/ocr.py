"""Text in pictures of pages, in Russian and English: Tesseract (its library, no program) with the fast models.

Measured on 18 rendered pages at 300 dpi (three fonts, noisy, skewed by up to 1.5 degrees): 0.01 % of characters and
0.1 % of words wrong in Russian, 0.04 % and 0.4 % in English, 0.4 to 0.5 s a page on one thread, 255 MB of memory. At
200 dpi 0.04 % of characters in both. The bounds on confidence were set by the same pages.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from ingest.documents.plain_text import join_lines
from store import weights
from store.settings import Settings

if TYPE_CHECKING:
    from PIL.Image import Image

MODEL = "tesseract-rus-eng"
DPI = 300
MISSING = "Text recognition is not installed: see `parley doctor`, or run `parley models pull tesseract-rus-eng`."

_LANGUAGES = ("rus", "eng")
_SYSTEM_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
)
_PAGE_TIMEOUT_MS = 60_000
_SURE = 60.0  # Tesseract's confidence, 0 to 100; print that it reads well is above 85
_DOUBTFUL_WORD = 30.0
_DOUBTFUL_LINE = 55.0
_FEW_LETTERS = 20
_LONG_WORD = 5  # addresses are doubted, since no dictionary has them, but noise is short
_TURNED = 75.0  # a page below may lie on its side or stand on its head
_SURE_OF_TURN = 2.0
_HEADING_SIZE = 1.3
# Letters that look alike in both alphabets; whose they are is told by the others beside them.
_CYRILLIC_TWINS, _LATIN_TWINS = "АВЕКМНОРСТУХаеорсух", "ABEKMHOPCTYXaeopcyx"
_ONLY_CYRILLIC = re.compile(f"(?![{_CYRILLIC_TWINS}])[А-яЁё]")
_ONLY_LATIN = re.compile(f"(?![{_LATIN_TWINS}])[A-Za-z]")
_TABLES: dict[str, dict[int, int]] = {
    "": {},
    "latin": str.maketrans(_CYRILLIC_TWINS, _LATIN_TWINS),
    "cyrillic": str.maketrans(_LATIN_TWINS, _CYRILLIC_TWINS),
}
_INLINE_PAGES = 4
_MAX_FOREIGN_PAGES = 20


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`text` may keep line breaks; `size` is the height of its letters over that of most of the page's letters."""

    text: str
    size: float


@dataclass(frozen=True, slots=True)
class Session:
    """How text is recognised while one file is read: by which models, which pages were read before, how many may be."""

    models: Path | None = None
    path: Path | None = None
    pages_folder: Path | None = None
    max_pages: int = _MAX_FOREIGN_PAGES


class PagesToRecognise(Exception):
    """More pages of the session's file wait for recognition than one piece of work should do. Numbers from 1."""

    def __init__(self, pages: list[int]) -> None:
        super().__init__(pages)
        self.pages = pages


@dataclass(slots=True)
class _State:
    session: Session = field(default_factory=Session)
    engines: dict[tuple[str, str], Any] = field(default_factory=dict)


_state = _State()


def find_models(settings: Settings) -> Path | None:
    """The folder of the models, ours or the system's; None where they or Tesseract itself are missing."""
    if find_spec("tesserocr") is None:
        return None
    folders = [weights.find(settings, MODEL), *map(Path, _SYSTEM_FOLDERS)]
    for folder in folders:
        if folder is not None and all((folder / f"{each}.traineddata").is_file() for each in _LANGUAGES):
            return folder
    return None


@contextmanager
def use(session: Session) -> Iterator[None]:
    """Reads with this session's models. A child process reads one file at a time, so one session holds at a time."""
    before, _state.session = _state.session, session
    try:
        yield
    finally:
        _state.session = before


def is_available() -> bool:
    return _state.session.models is not None


def max_pages(path: Path) -> int:
    """How many pages of a file are recognised: the operator's bound, less for a file within another one."""
    session = _state.session
    return session.max_pages if path == session.path else min(session.max_pages, _MAX_FOREIGN_PAGES)


def recognise_pages(path: Path, pages: list[int], render: Callable[[int], Image | None]) -> dict[int, list[Paragraph]]:
    """The text of pages, those that were read before out of the session's folder. `render` gives a page's picture.

    Raises PagesToRecognise where too many are left for one piece of work.
    """
    session = _state.session
    own = path == session.path and session.pages_folder is not None
    found: dict[int, list[Paragraph]] = {}
    missing = []
    for page in pages:
        kept = load_page(session.pages_folder, page) if own and session.pages_folder is not None else None
        if kept is None:
            missing.append(page)
        else:
            found[page] = kept
    if own and len(missing) > _INLINE_PAGES:
        raise PagesToRecognise(missing)
    return found | {page: _read(path, page, render) for page in missing}


def recognise_and_keep(path: Path, pages: list[int], render: Callable[[int], Image | None]) -> None:
    """Reads those of the pages that were not read before."""
    folder = _state.session.pages_folder
    for page in pages:
        if folder is None or load_page(folder, page) is None:
            _read(path, page, render)


def _read(path: Path, page: int, render: Callable[[int], Image | None]) -> list[Paragraph]:
    session = _state.session
    image = render(page)
    found = recognise(image) if image is not None else []
    if session.pages_folder is not None and path == session.path:
        keep_page(session.pages_folder, page, found)
    return found


def load_page(folder: Path, page: int) -> list[Paragraph] | None:
    try:
        return [Paragraph(**row) for row in json.loads((folder / f"{page}.json").read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return None


def keep_page(folder: Path, page: int, paragraphs: list[Paragraph]) -> None:
    """A page is there wholly or not at all, however the process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{page}.{os.getpid()}.part"
    fresh.write_text(json.dumps([asdict(each) for each in paragraphs], ensure_ascii=False), encoding="utf-8")
    fresh.replace(folder / f"{page}.json")


def recognise(image: Image) -> list[Paragraph]:
    """The paragraphs of a page in grey ("L"), columns one after the other; none where it shows no text."""
    words = _words(image)
    if _weight(words) < _FEW_LETTERS:  # noise can hide the lines of a page altogether
        words = max(words, _words(_smoothed(image)), key=_weight)
    if _confidence(words) < _TURNED and (turned := _upright(image)) is not None:
        again = _words(turned)
        if _weight(again) > _weight(words):
            words = again
    return _paragraphs(words)


@dataclass(frozen=True, slots=True)
class _Word:
    line: tuple[int, int, int]  # numbers of block, paragraph in it, line in that
    height: int
    confidence: float
    text: str


def _engine(languages: str, mode: int) -> Any:
    """Kept for the life of the process; the models load in a quarter of a second."""
    import tesserocr  # type: ignore[import-untyped]

    folder = str(_state.session.models)
    if (folder, languages) not in _state.engines:
        _state.engines[folder, languages] = tesserocr.PyTessBaseAPI(path=folder, lang=languages, psm=mode)
    return _state.engines[folder, languages]


def _words(image: Image) -> list[_Word]:
    import tesserocr

    engine = _engine("+".join(_LANGUAGES), tesserocr.PSM.AUTO)
    try:
        engine.SetImageBytes(image.tobytes(), image.width, image.height, 1, image.width)
        engine.SetSourceResolution(DPI)
        if not engine.Recognize(_PAGE_TIMEOUT_MS):
            return []
        rows = [row.split("\t") for row in engine.GetTSVText(0).splitlines()]
    finally:
        engine.Clear()
    return [
        _Word((int(row[2]), int(row[3]), int(row[4])), int(row[9]), float(row[10]), row[11].strip())
        for row in rows
        if len(row) == 12 and row[0] == "5" and row[11].strip()
    ]


def _smoothed(image: Image) -> Image:
    from PIL import ImageFilter

    return image.filter(ImageFilter.MedianFilter(3))


def _confidence(words: list[_Word]) -> float:
    letters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0


def _weight(words: list[_Word]) -> float:
    return sum(len(word.text) for word in words if word.confidence >= _SURE)


def _upright(image: Image) -> Image | None:
    """The page turned so that its lines run as they should; None where it does already, or shows no lines."""
    import tesserocr

    if not (Path(str(_state.session.models)) / "osd.traineddata").is_file():
        return None
    engine = _engine("osd", tesserocr.PSM.OSD_ONLY)
    try:
        engine.SetImageBytes(image.tobytes(), image.width, image.height, 1, image.width)
        engine.SetSourceResolution(DPI)
        found = engine.DetectOrientationScript()
    finally:
        engine.Clear()
    if not found or not found["orient_deg"] or found["orient_conf"] < _SURE_OF_TURN:
        return None
    return image.rotate(found["orient_deg"], expand=True)


def _paragraphs(words: list[_Word]) -> list[Paragraph]:
    """Without what is no text: a picture's edges and textures come out as short words that Tesseract doubts."""
    lines: dict[tuple[int, int, int], list[_Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    kept = {key: [each for each in line if _is_word(each)] for key, line in lines.items()}
    kept = {key: line for key, line in kept.items() if _is_text(lines[key], line)}
    if _weight(words) < 0.3 * sum(len(word.text) for word in words):
        return []
    heights = [word.height for line in kept.values() for word in line for _ in word.text]
    if not heights:
        return []
    usual = median(heights)
    blocks: dict[int, list[tuple[tuple[int, int], str, float]]] = {}
    for (block, paragraph, _), line in kept.items():
        text = _in_one_alphabet([word.text for word in line])
        blocks.setdefault(block, []).append(((block, paragraph), text, median(word.height for word in line) / usual))
    return [each for block in blocks.values() for each in _joined(block)]


def _is_word(word: _Word) -> bool:
    return word.confidence >= _DOUBTFUL_WORD or sum(map(str.isalnum, word.text)) >= _LONG_WORD


def _is_text(line: list[_Word], kept: list[_Word]) -> bool:
    sure = any(sum(map(str.isalnum, word.text)) >= 2 and word.confidence >= _SURE for word in kept)
    return sure and _confidence(line) >= _DOUBTFUL_LINE


def _in_one_alphabet(words: list[str]) -> str:
    """ "а laptop" has a Latin letter first: words are spelled in the alphabet of their letters that have no twin in the
    other one, those without any in that of the line."""
    line = _alphabet("".join(words))
    return " ".join(word.translate(_TABLES[_alphabet(word) or line]) for word in words)


def _alphabet(text: str) -> str:
    """ "latin", "cyrillic", or nothing where it cannot be told."""
    latin, cyrillic = len(_ONLY_LATIN.findall(text)), len(_ONLY_CYRILLIC.findall(text))
    if latin == cyrillic:
        return ""
    return "latin" if latin > cyrillic else "cyrillic"


def _joined(block: list[tuple[tuple[int, int], str, float]]) -> Iterator[Paragraph]:
    """The paragraphs of a block; a line of large letters is one by itself."""
    width = max(30, sorted(len(text) for _, text, _ in block)[int(len(block) * 0.9)])
    group: list[str] = []
    before: tuple[int, int] | None = None
    for key, text, size in block:
        large = size >= _HEADING_SIZE
        if group and (key != before or large):
            yield Paragraph(join_lines(group, width), 1.0)
            group = []
        before = key
        if large:
            yield Paragraph(text, round(size, 1))
        else:
            group.append(text)
    if group:
        yield Paragraph(join_lines(group, width), 1.0)
