"""Where the engine of the local model cannot be loaded, nobody is offered what it would have to answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.engines import describe_engine
from rag.language_model import open_language_model
from rag.local_engine import engine_problem
from rag.local_model import PREFERRED
from rag.model_choice import ModelChoice, models_of_chats, resolve_model
from store import weights
from store.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """With a file of the local model's name and size, of holes alone."""
    (source, *_) = next(each for each in weights.catalog() if each.name == PREFERRED[0]).sources
    for file in source.files:
        path = tmp_path / "models" / PREFERRED[0] / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, file.size)
    return load_settings(_env_file=None, models_dir=tmp_path / "models", cache_dir=tmp_path / "cache", llm_model="")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The module that stands before the installed engine."""
    (tmp_path / "python").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "python"), prepend=os.pathsep)
    engine_problem.cache_clear()
    yield tmp_path / "python" / "xllamacpp.py"
    engine_problem.cache_clear()


def test_the_local_model_answers_where_its_engine_can_be_loaded(settings: Settings, engine: Path) -> None:
    engine.write_text("")
    assert resolve_model(settings) == ModelChoice("local", PREFERRED[0])


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("import ctypes\nctypes.CDLL('libgomp-of-nobody.so.1')", "libgomp-of-nobody.so.1: cannot open shared object"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGILL)", "SIGILL"),
    ],
)
def test_without_its_engine_the_chat_quotes_and_the_doctor_says_why(
    settings: Settings, engine: Path, module: str, says: str
) -> None:
    engine.write_text(module)
    choice = resolve_model(settings)
    assert choice.kind == "none"
    assert says in choice.problem
    assert ("libgomp1" in choice.problem) == ("libgomp" in says)
    assert open_language_model(settings) is None
    assert models_of_chats(settings) == ("none",)
    works, line = describe_engine(settings)
    assert not works
    assert says in line
    assert "quotes the best passages" in line


def test_who_wants_the_local_model_alone_is_told_why_it_does_not_answer(settings: Settings, engine: Path) -> None:
    engine.write_text("raise ImportError('too old')")
    choice = resolve_model(settings, "local")
    assert (choice.kind, choice.name) == ("local", "")
    assert "ImportError: too old" in choice.problem
