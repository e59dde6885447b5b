"""Both engines on real speech, and the weights that they share."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ingest.speech import recognise, whisper_timestamped_engine
from ingest.speech.credibility import text_of
from ingest.speech.decode import decode, samples_of
from ingest.speech.recognise import Engine, EngineMissing, Recogniser, TimedWord, choose_engine, load
from store import weights
from store.settings import load_settings
from store.weights import ModelMissing
from tests.ingest.speech.sounds import engine, noise, shared_speech

JFK = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"
HEARD = """
import json, sys
from dataclasses import asdict
import numpy as np
from ingest.speech.recognise import Engine, load
engine, sound = Engine(**json.loads(sys.argv[1])), np.load(sys.argv[2])
recogniser = load(engine)
likely = recogniser.languages([sound])
words = [[asdict(word) for word in each] for each in recogniser.batch([sound], "en")]
careful = [asdict(word) for word in recogniser.careful(sound[-48_000:], "en")]
print(json.dumps({"language": max(likely, key=likely.get), "words": words, "careful": careful}))
"""


def sound_of(name: str, folder: Path) -> np.ndarray:
    samples = samples_of(decode(shared_speech(name), folder).files[0])
    return samples[0 : len(samples)].astype(np.float32) / np.float32(32768)


def plain(words: list[TimedWord]) -> list[str]:
    return "".join(each for each in text_of(words).lower() if each.isalpha() or each == " ").split()


@pytest.mark.models
@pytest.mark.parametrize("kind", ["faster-whisper", "whisper-timestamped"])
def test_an_engine_hears_words_with_times_confidence_and_language(tmp_path: Path, kind: recognise.Kind) -> None:
    """In a process of its own, as the server runs it: what engines bring stays out of this one."""
    if kind == "whisper-timestamped" and find_spec("whisper_timestamped") is None:
        pytest.skip("the extra whisper-timestamped is not installed")
    np.save(tmp_path / "sound.npy", sound_of("jfk.flac", tmp_path / "work"))
    plan = json.dumps({"model_path": engine().model_path, "threads": 1, "kind": kind, "cache": str(tmp_path)})
    command = [sys.executable, "-W", "ignore", "-c", HEARD, plan, str(tmp_path / "sound.npy")]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    heard = json.loads(run.stdout.splitlines()[-1])
    assert heard["language"] == "en"
    assert len(heard["words"]) == 1, "one list for each sound"
    quick, careful = ([TimedWord(**word) for word in words] for words in (heard["words"][0], heard["careful"]))
    assert set(plain(quick)) >= set(JFK.split()) - {"so"}
    assert plain(careful)[-5:] == ["can", "do", "for", "your", "country"]
    for found in (quick, careful):
        assert [word.start for word in found] == sorted(word.start for word in found)
        assert all(0.0 <= word.start <= word.end <= 11.1 for word in found)
        assert all(0.0 <= word.probability <= 1.0 for word in found)
        assert found[-1].probability > 0.5
    assert 9.0 < quick[-1].start < 10.8
    assert 1.2 < careful[-1].start < 2.8


@pytest.mark.soak
@pytest.mark.models
def test_many_windows_at_once_give_each_its_own_words(tmp_path: Path) -> None:
    used: Recogniser = load(engine())
    names = ["ru_0022.wav", "ru_0024.wav", "ru_0025.wav", "ru_0027.wav", "ru_0030.wav"]
    sounds = [sound_of(name, tmp_path / name) for name in names]
    together = used.batch(sounds, "ru")
    assert len(together) == len(sounds)
    assert [text_of(words) for words in together] == [text_of(used.batch([sound], "ru")[0]) for sound in sounds]
    assert used.batch([], "ru") == []


@pytest.mark.models
def test_noise_and_silence_have_no_words_that_an_engine_believes(tmp_path: Path) -> None:
    for sound in (np.zeros(16_000 * 5), noise(5)):
        [words] = load(engine()).batch([sound.astype(np.float32)], "en")
        assert all(word.probability < 0.6 for word in words)


def test_an_engine_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper_timestamped_engine, "find_spec", lambda name: None)
    with pytest.raises(EngineMissing, match=r"pip install 'parley\[whisper-timestamped\]'"):
        choose_engine(load_settings(asr_engine="whisper-timestamped"))
    assert issubclass(EngineMissing, ModelMissing), "who handles a missing model handles a missing engine"


@pytest.mark.parametrize(
    ("cores", "memory_gib", "expected"), [(2, 8, "whisper-small"), (1, 8, "whisper-base"), (8, 2, "whisper-base")]
)
def test_the_model_is_the_best_that_the_machine_can_bear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, memory_gib: int, expected: str
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory_gib * 1024**3 // 4096}
    monkeypatch.setattr(recognise.os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr(recognise.os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(weights, "find", lambda _, name: tmp_path / name)
    chosen = choose_engine(load_settings(asr_model="", asr_engine="", asr_threads=0, cache_dir=tmp_path))
    assert chosen == Engine(str(tmp_path / expected), cores, "faster-whisper", str(tmp_path / "converted"))
    monkeypatch.setattr(weights, "find", lambda _, name: tmp_path / name if name == "whisper-base" else None)
    assert choose_engine(load_settings(asr_model="")).model_path == str(tmp_path / "whisper-base")


@pytest.mark.models
def test_words_are_the_same_whether_the_language_was_looked_for_or_given(tmp_path: Path) -> None:
    used: Recogniser = load(engine())
    russian, english = sound_of("ru_0030.wav", tmp_path / "a"), sound_of("jfk.flac", tmp_path / "b")
    given = used.batch([russian], "ru")
    likely = used.languages([russian, english])
    assert set(sorted(likely, key=likely.__getitem__)[-2:]) == {"ru", "en"}
    assert sum(likely.values()) == pytest.approx(1.0, abs=0.01)
    assert used.batch([russian], "ru") == given
