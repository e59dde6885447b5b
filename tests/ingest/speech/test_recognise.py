"""What is believed of an engine's words, and what is heard again: by a scripted engine, so that each case is exact."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ingest.speech import recognise
from ingest.speech.credibility import credible, is_loop, suspicious, text_of, without_loops
from ingest.speech.recognise import MAX_WINDOW_S, Engine, TimedWord, choose_engine, hears_by_gpu, is_usable
from ingest.speech.transcribe import Part, Segment, _windows, merge, prepare, recognise_windows
from store.settings import WORK, load_settings
from store.weights import ModelMissing
from tests.ingest.speech.sounds import noise, write_wav


def said(text: str, start: float = 0.0, step: float = 0.3, probability: float = 0.9) -> list[TimedWord]:
    words = text.split()
    return [TimedWord(f" {w}", start + n * step, start + (n + 1) * step, probability) for n, w in enumerate(words)]


class Scripted:
    """An engine that answers from a script and remembers what it was asked to hear again."""

    def __init__(self, quick: list[list[TimedWord]], careful: Sequence[list[TimedWord]] = ()) -> None:
        self.quick = quick
        self.again = list(careful)
        self.heard_again_s: list[float] = []

    def languages(self, sounds: Sequence[np.ndarray]) -> dict[str, float]:
        return {"ru": 1.0}

    def batch(self, sounds: Sequence[np.ndarray], language: str) -> list[list[TimedWord]]:
        assert len(sounds) == len(self.quick)
        return self.quick

    def careful(self, sound: np.ndarray, language: str) -> list[TimedWord]:
        self.heard_again_s.append(len(sound) / 16_000)
        return self.again.pop(0)


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """One window of two stretches: 1 to 5 s and 20 to 23 s of the recording."""
    (tmp_path / "channel-0.s16").write_bytes((noise(30) * 32767).astype(np.int16).tobytes())
    windows = [[[1000, 5000], [20000, 23000]]]
    return {"file": "channel-0.s16", "speaker": "SPEAKER_00", "windows": windows, "speech_ms": 7000}


def recognised(folder: Path, part: Part, engine: Scripted, language: str = "ru", words: bool = False) -> list[Segment]:
    return recognise_windows(folder, part, engine, language=language, words=words)


def test_words_go_back_to_the_stretch_and_the_time_they_were_said(tmp_path: Path, part: Part) -> None:
    engine = Scripted([said("добрый день", 0.5) + said("до свидания", 4.5)])
    first, second = recognised(tmp_path, part, engine, words=True)
    assert (first["text"], first["start"], first["end"]) == ("добрый день", 1.5, 2.1)
    assert (second["text"], second["start"], second["end"]) == ("до свидания", 20.5, 21.1)
    assert second["words"] == [
        {"word": "до", "start": 20.5, "end": 20.8},
        {"word": "свидания", "start": 20.8, "end": 21.1},
    ]
    assert engine.heard_again_s == []


def test_a_stretch_without_words_is_heard_again_alone(tmp_path: Path, part: Part) -> None:
    engine = Scripted([said("добрый день", 0.5)], [said("а вот и я", 0.2)])
    _, second = recognised(tmp_path, part, engine)
    assert (second["text"], second["start"]) == ("а вот и я", 20.2)
    assert engine.heard_again_s == [3.0]


@pytest.mark.parametrize(
    "quick",
    [[], said("я не знаю, что " * 20, step=0.05), said("this was said in another language")],
    ids=["nothing", "loop", "translated"],
)
def test_a_result_that_cannot_be_right_is_heard_again_stretch_by_stretch(
    tmp_path: Path, part: Part, quick: list[TimedWord]
) -> None:
    engine = Scripted([quick], [said("первое"), said("второе")])
    assert [segment["text"] for segment in recognised(tmp_path, part, engine)] == ["первое", "второе"]
    assert engine.heard_again_s == [4.0, 3.0]


def test_noise_that_only_makes_a_loop_gives_nothing(tmp_path: Path, part: Part) -> None:
    loop = said("я не знаю, что " * 20, step=0.05)
    assert recognised(tmp_path, part, Scripted([loop], [loop, []])) == []


def test_times_stay_inside_the_stretch(tmp_path: Path, part: Part) -> None:
    engine = Scripted([said("раз", 0.1, step=7.0) + said("три", 5.0)])
    for segment in recognised(tmp_path, part, engine):
        assert 1.0 <= segment["start"] <= segment["end"] <= 23.0


def test_a_long_stretch_is_cut_after_a_sentence(tmp_path: Path, part: Part) -> None:
    part["windows"] = [[[0, 20000]]]
    text = "Мы привезём машину в среду. Инженер приедет утром. Счёт пришлём завтра. Спасибо"
    found = recognised(tmp_path, part, Scripted([said(text, step=0.7)]))
    assert [segment["text"].count(".") for segment in found] == [2, 1]
    assert found[0]["end"] <= found[1]["start"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Продолжение следует...", False),
        ("Редактор субтитров А.Синецкая Корректор В.Сухиашвили", False),
        ("Thanks for watching!", False),
        ("ТЕЛЕФОННЫЙ ЗВОНОК", False),
        ("...", False),
        ("Да.", True),
        ("Спасибо, до свидания.", True),
        ("Thank you.", True),
    ],
)
def test_what_engines_write_over_noise_is_not_believed(text: str, expected: bool) -> None:
    assert credible(said(text)) is expected


def test_words_that_the_engine_itself_doubts_are_not_believed() -> None:
    assert not credible(said("быть может", probability=0.1))


@pytest.mark.parametrize("text", ["Аааа", "А-а-а!", "ПОЛИЦ"])
def test_sounds_written_down_are_not_believed(text: str) -> None:
    assert not credible(said(text, probability=0.5), 3.0)


def test_a_few_doubtful_words_for_a_long_stretch_are_not_believed() -> None:
    assert not credible(said("Тихо!", probability=0.33), 28.0)
    assert credible(said("Тихо!", probability=0.33), 1.0)
    assert credible(said("Минутку, ищу", probability=0.9), 28.0)


def test_repetition_of_people_is_kept_and_that_of_engines_is_not() -> None:
    assert not is_loop("Да, да, да, конечно, да.")
    spoken = said("да да да хорошо")
    assert without_loops(spoken) == spoken
    looped = said("алло " + "вы меня слышите " * 9 + "хорошо")
    assert text_of(without_loops(looped)) == "алло вы меня слышите хорошо"


def test_names_in_another_script_are_no_other_language() -> None:
    assert not suspicious(said("Мы пользуемся Microsoft Teams и Zoom, а ещё почтой"), 4.0, "ru")
    assert suspicious(said("We will call you back tomorrow morning"), 4.0, "ru")
    assert suspicious(said("мы перезвоним вам завтра утром"), 4.0, "en")


def test_parts_merge_by_time_into_json(tmp_path: Path) -> None:
    prepared = prepare(write_wav(tmp_path / "a.wav", noise(3, seed=1), noise(3, seed=2)), tmp_path / "work")
    assert json.loads(json.dumps(prepared)) == prepared
    left: list[Segment] = [{"start": 0.0, "end": 1.0, "text": "один", "speaker": "SPEAKER_00"}]
    right: list[Segment] = [{"start": 0.5, "end": 2.0, "text": "два", "speaker": "SPEAKER_01"}]
    left.append({"start": 2.0, "end": 3.0, "text": "три", "speaker": "SPEAKER_00"})
    transcript = merge(prepared, [left, right], "ru")
    assert transcript["text"] == "один два три"
    assert transcript["audio_duration_ms"] == 3000
    assert transcript["language"] == "ru"


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    settings = load_settings(cache_dir=tmp_path, models_dir=None, asr_model="", asr_threads=0)
    with pytest.raises(ModelMissing, match="parley models pull whisper-base"):
        choose_engine(settings)
    with pytest.raises(ModelMissing, match="nonesuch"):
        choose_engine(load_settings(cache_dir=tmp_path, models_dir=None, asr_model="nonesuch"))


def test_a_folder_can_be_the_model(tmp_path: Path) -> None:
    engine = choose_engine(load_settings(asr_model=str(tmp_path), asr_threads=3))
    assert (engine.model_path, engine.threads, engine.kind) == (str(tmp_path), 3, "faster-whisper")


def test_speech_goes_to_a_gpu_where_there_is_one_and_it_is_not_forbidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(asr_model=str(tmp_path))
    for has_gpu, devices in ((True, ("cuda", "cpu", "cuda")), (False, ("cpu", "cpu", None))):
        monkeypatch.setattr(recognise, "has_gpu", lambda has_gpu=has_gpu: has_gpu)
        for wanted, device in zip(("", "cpu", "cuda"), devices, strict=True):
            asked = settings.model_copy(update={"asr_device": wanted})
            if device is not None:
                assert choose_engine(asked).device == device
                continue
            with pytest.raises(ModelMissing, match="PARLEY_ASR_DEVICE"):
                choose_engine(asked)


def test_a_worker_is_told_of_as_one_with_a_gpu_where_it_hears_calls_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = load_settings(asr_model=str(tmp_path))
    monkeypatch.setattr(recognise, "has_gpu", lambda: True)
    by_setting = [hears_by_gpu(here.model_copy(update={"asr_device": each}), WORK) for each in ("", "cuda", "cpu")]
    assert by_setting == [True, True, False]
    assert not hears_by_gpu(here, ("documents",))
    assert not hears_by_gpu(here.model_copy(update={"asr_model": "none that there is"}), WORK)
    monkeypatch.setattr(recognise, "has_gpu", lambda: False)
    assert not hears_by_gpu(here, WORK)


def test_an_engine_whose_torch_is_made_without_cuda_hears_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("whisper_timestamped", reason="the extra whisper-timestamped is not installed")
    settings = load_settings(asr_model=str(tmp_path), asr_engine="whisper-timestamped")
    monkeypatch.setattr(recognise, "has_gpu", lambda: True)
    device = "cuda" if torch.version.cuda else "cpu"
    assert choose_engine(settings).device == device
    assert hears_by_gpu(settings, WORK) == (device == "cuda")


def test_what_a_machine_with_a_gpu_chose_is_not_usable_on_one_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_gpu, elsewhere = Engine(str(tmp_path), 2, device="cuda"), Engine(str(tmp_path / "other"), 2)
    monkeypatch.setattr(recognise, "has_gpu", lambda: False)
    assert [is_usable(each) for each in (on_gpu, elsewhere, Engine(str(tmp_path), 2))] == [False, False, True]
    monkeypatch.setattr(recognise, "has_gpu", lambda: True)
    assert is_usable(on_gpu)


def test_every_stretch_goes_into_one_window_that_the_engine_can_hear_whole() -> None:
    random = np.random.default_rng(2)
    edges = np.cumsum(random.integers(300, 25_000, size=400)).tolist()
    found = list(itertools.pairwise(edges))[::2]
    windows = _windows(found)
    assert sorted(tuple(stretch) for window in windows for stretch in window) == found
    assert all(window == sorted(window) for window in windows)
    lengths = [sum(end - start for start, end in window) for window in windows]
    assert max(lengths) <= MAX_WINDOW_S * 1000
    assert sum(lengths) / len(lengths) > 0.85 * MAX_WINDOW_S * 1000, "a window costs the same however full it is"
