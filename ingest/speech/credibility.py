"""What is believed of an engine's words, what is heard again, and what was never said."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

from ingest.speech.recognise import TimedWord

_LOOP_RATIO = 2.4
_MAX_LETTERS_PER_S = 35.0
_MIN_CONFIDENCE = 0.22
_MIN_CONFIDENCE_OF_ODD = 0.6
_LONGEST_WORD_S = 3.0
_CYRILLIC = {"ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg", "tt", "ba"}
_LATIN = {"en", "de", "fr", "es", "it", "pt", "pl", "nl", "tr", "cs", "sv", "fi", "da", "no", "ro", "hu", "uz", "az"}
# What Whisper writes over noise: credits from the subtitles that it learned from.
_PHANTOM = re.compile(
    r"(редактор )?субтитр\w*\b.*|продолжение следует|спасибо за просмотр|(ставьте лайки.*|подписывайтесь на .*канал.*)"
    r"|thanks? (you )?(so much )?for watching.*|subtitles by .*|(please )?(like and )?subscribe.*|.*amara\.?org.*",
    re.IGNORECASE | re.DOTALL,
)


def text_of(words: Sequence[TimedWord]) -> str:
    return " ".join("".join(word.text for word in words).split())


def suspicious(words: Sequence[TimedWord], duration_s: float, language: str) -> bool:
    """Whether a quick result must be done again: nothing, a loop, more than can be spoken, or another language."""
    text = text_of(words)
    return (
        not text or is_loop(text) or len(text) > _MAX_LETTERS_PER_S * max(duration_s, 1.0) or _foreign(text, language)
    )


def is_loop(text: str) -> bool:
    """Whether the same words come again and again (their compression ratio, as Whisper's own decoder measures it)."""
    data = text.encode()
    return len(data) > 40 and len(data) / len(zlib.compress(data)) > _LOOP_RATIO


def _foreign(text: str, language: str) -> bool:
    """Whether most letters are of another script than the language's; short words (names, brands) may be."""
    letters = [letter for letter in text if letter.isalpha()]
    if len(letters) < 12 or language not in _CYRILLIC | _LATIN:
        return False
    cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in letters) / len(letters)
    return cyrillic < 0.4 if language in _CYRILLIC else cyrillic > 0.4


def credible(words: Sequence[TimedWord], duration_s: float = 0.0) -> bool:
    """Whether the words of a stretch of that length were spoken, as far as the engine itself believes it."""
    text = text_of(words)
    letters = [letter for letter in text.lower() if letter.isalpha()]
    if not any(letter.isalnum() for letter in text) or _PHANTOM.fullmatch(text.strip(" .!…,-")):
        return False
    if text.isupper() and len(text) > 8:  # captions of sounds: ТЕЛЕФОННЫЙ ЗВОНОК, DRAMATIC MUSIC
        return False
    if len(letters) > 2 and len(set(letters)) == 1:  # how music is written down: Аааа
        return False
    confidence = sum(word.probability for word in words) / len(words)
    few = len(words) * _LONGEST_WORD_S < duration_s
    caption = text.isupper() and len(letters) > 4
    return confidence >= (_MIN_CONFIDENCE_OF_ODD if few or caption else _MIN_CONFIDENCE)


def without_loops(words: Sequence[TimedWord]) -> list[TimedWord]:
    """The words with phrases of up to eight words that come more than three times in a row said once."""
    keys = [re.sub(r"\W", "", word.text.lower()) for word in words]
    kept: list[TimedWord] = []
    at = 0
    while at < len(words):
        for length in range(1, 9):
            count = 1
            phrase = keys[at : at + length]
            while keys[at + count * length : at + (count + 1) * length] == phrase:
                count += 1
            if count > 3:
                kept += words[at : at + length]
                at += count * length
                break
        else:
            kept.append(words[at])
            at += 1
    return kept
