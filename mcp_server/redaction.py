"""Arguments of a tool as the log may keep them: bounded, and without anything that looks like a secret.

An agent puts whatever its user pasted into a query: a key, a password, the number of a card. What is taken for one is
replaced by `***`; better a harmless word too many than one secret.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

MASK = "***"
CUT = "…"
MAX_CHARACTERS = 2000
_MAX_STRING = 500
_MAX_NAME = 60
_MAX_DEPTH = 6
_MAX_ITEMS = 50
# A string is looked through a little further than it is kept, so that a cut does not make a secret unknown.
_SEEN_BEYOND = 100
# What is masked is short; this bounds the work on arguments that are nothing but secrets.
_MAX_SEEN = 10_000

# Words of a field's name.
_SECRET_NAMES = frozenset(
    {
        *("password", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "token", "tokens", "apikey"),
        *("auth", "authorization", "bearer", "credential", "credentials", "cookie", "cookies", "session", "jwt", "otp"),
        *("cvv", "cvc", "pin", "pan", "card", "signature", "пароль", "токен", "секрет", "ключ", "карта"),
    }
)
_SECRET_PAIRS = ("apikey", "accesskey", "privatekey", "secretkey", "password")
_NAME_WORDS = re.compile(r"[A-Z]+(?![a-zа-я])|[A-Z]?[a-z]+|[А-ЯЁ]?[а-яё]+")
_NAMED = re.compile(
    r"""(?ix)
    (?P<name>
        (?: (?:api|access|private|secret)[ _-]?key | secret | token | passw(?:or)?d | pwd | passphrase | passcode
          | credential | authorization | cookie | парол\w{0,3} | токен\w{0,3}
          | \b (?: pin | cvv2? | cvc2? | секрет\w? | пин-?код\w? | код\s+доступа | ключ\w? (?:\s+(?:api|доступа))? ) \b
        ) (?: s | _\w{1,20} )?
        ["'`]? (?: \s*[:=]+\s* | \s+(?: [–—-] | is | это | равен )\s+ )
    )
    (?: (?:bearer|basic|token)\s+ )?
    (?: "[^"\n]{1,300}" | '[^'\n]{1,300}' | [^\s"'`,;<>(){}\[\]]+ )
    """
)
# Said beside its name without a sign between them: then it is what has a digit.
_SAID = re.compile(
    r"""(?ix)
    (?P<name>
        \b (?: (?:api|access|private|secret)[ _-]?key | secret | token | passw(?:or)?d | pwd | passphrase | passcode
          | otp | парол\w{0,3} | токен\w{0,3} | секрет\w? | ключ\w? | код\w{0,2} | паспорт\w{0,3} | passport | code ) \b
        (?: [^\S\n]+ [^\W\d]{1,20} ){0,4}
        [\s:=,–—-]{1,4}
    )
    (?! [0-9a-f]{8}-[0-9a-f]{4}- )
    (?= [^\s"'`,;<>(){}\[\]]{0,60} \d )
    [^\s"'`,;<>(){}\[\]]{4,} (?: \s \d{4,8} \b ){0,2}
    """
)
# A password may have no digit at all: the first word of some length behind its name counts as one.
_SAID_IN_WORDS = re.compile(
    r"""(?ix)
    (?P<name>
        \b (?: pass | passw(?:or)?d | pwd | passphrase | passcode | парол\w{0,3} ) \b
        [\s:=,–—-]{1,4}
    )
    (?! \*\*\* ) [^\s"'`,;<>(){}\[\]]{4,}
    """
)
_SAID_BEFORE = re.compile(
    r"""(?ix)
    (?<! \S ) (?= \S{0,60} \d ) \S{4,80}
    (?P<name>
        \s+ (?: is | was | это | [–—-] ) \s+ (?: (?: the | my | our | мой | наш ) \s+ )?
        (?: password | passcode | token | secret | pin | парол\w{0,3} | токен\w? | пин\w{0,4} | секрет ) \b
    )
    """
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_SHAPES = re.compile(
    r"""(?x)
      -----BEGIN\ [A-Z0-9 ]+----- .*? (?: -----END\ [A-Z0-9 ]+----- | \Z )
    | \b (?i: bearer | basic ) \s+ [\w.~+/=-]{8,}
    | \b (?i: pin | cvv2? | cvc2? | пин | пин-?код | otp ) \s+ \d{3,8} \b
    | \b (?:sk|pk|rk|int)_(?:live|test)_ [\w-]{7,}          # of this house, and of payment providers
    | \b (?:sk-|wk_|hf_|npm_|pypi-|gh[opusr]_|github_pat_|glpat-|xox[abeprs]-|whsec_|ya29\.|SG\.) [\w.-]{12,}
    | \b (?:AKIA|ASIA|AIza) [\w-]{12,}
    | \b eyJ [\w-]{8,} (?: \. [\w-]+ ){0,4}                 # JSON Web Tokens
    | \b \d{6,12} : [\w-]{30,}                             # of bots
    | (?<= ://) [^\s/@:]* : [^\s/@]+ (?= @)                 # of addresses with a user's password
    """,
    re.DOTALL,
)
# What stands in every text that one of the two can match, in lower case: few texts have any of it.
_HINTS = (
    *("key", "secret", "token", "pass", "pwd", "credential", "authorization", "cookie"),
    *(
        "парол",
        "токен",
        "секрет",
        "пин",
        "доступа",
        "ключ",
        "pin",
        "cvv",
        "cvc",
        "otp",
        "bearer",
        "basic",
        "-----begin",
        "код",
        "code",
        "паспорт",
    ),
    *("_live_", "_test_", "sk-", "wk_", "hf_", "npm_", "pypi-", "gh", "glpat-", "xox", "whsec_", "ya29.", "sg."),
    *("akia", "asia", "aiza", "eyj", ":"),
)
_CARD = re.compile(r"(?<![\w-])[2-6](?:[ -]?\d){12,18}(?![\w-])")
_SHORTEST_UNNAMED = 13  # the number of a card
_SHORTEST_RANDOM = 24
_LONG_WORD = re.compile(rf"[A-Za-z0-9_+/=-]{{{_SHORTEST_RANDOM},}}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def kept_arguments(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments without secrets; as JSON they have at most MAX_CHARACTERS."""
    kept: dict[str, Any] = _Keeping().value(arguments or {}, 0)
    return kept


def kept_text(text: str, limit: int) -> str:
    """A text without secrets, at most `limit` characters, that both databases and UTF-8 can hold."""
    seen = text[: limit + _SEEN_BEYOND].replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    kept = without_secrets(seen)
    return kept if len(kept) <= limit else kept[: limit - 1] + CUT


def without_secrets(text: str) -> str:
    """`text` with a mask in place of what looks like a key, a token, a password or the number of a card."""
    if _UUID.fullmatch(text):
        return text
    lower = text.lower()
    if any(hint in lower for hint in _HINTS):
        text = _SHAPES.sub(MASK, text)
        text = _NAMED.sub(rf"\g<name>{MASK}", text)
        text = _SAID.sub(rf"\g<name>{MASK}", text)
        text = _SAID_IN_WORDS.sub(rf"\g<name>{MASK}", text)
        text = _SAID_BEFORE.sub(rf"{MASK}\g<name>", text)
    if len(text) < _SHORTEST_UNNAMED:
        return text
    text = _IBAN.sub(MASK, text)
    text = _CARD.sub(lambda found: MASK if _is_card(found[0]) else found[0], text)
    return _LONG_WORD.sub(lambda found: MASK if _is_random(found[0]) else found[0], text)


class _Keeping:
    """Goes through arguments once, within a budget of characters of the JSON that comes of it."""

    def __init__(self) -> None:
        self._left = MAX_CHARACTERS - 12 * (_MAX_DEPTH + 2)  # every level may end with a word that it was cut
        self._seen_left = _MAX_SEEN

    def value(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            return dict(self._members(value, depth))
        if isinstance(value, list | tuple):
            return list(self._elements(value, depth))
        return self._leaf(value)

    def _members(self, found: Mapping[Any, Any], depth: int) -> Iterator[tuple[str, Any]]:
        self._left -= 2
        for number, (name, value) in enumerate(found.items()):
            shown, is_secret = _name(str(name)[: _MAX_NAME + _SEEN_BEYOND])
            if number == _MAX_ITEMS or depth == _MAX_DEPTH or not self._take(_json_length(shown) + 4, len(shown)):
                yield CUT, CUT
                return
            if is_secret and value is not None:
                self._left -= len(MASK) + 2
                yield shown, MASK
            else:
                yield shown, self.value(value, depth + 1)

    def _elements(self, found: list[Any] | tuple[Any, ...], depth: int) -> Iterator[Any]:
        self._left -= 2
        for number, value in enumerate(found):
            if number == _MAX_ITEMS or depth == _MAX_DEPTH or not self._take(2, 0):
                yield CUT
                return
            yield self.value(value, depth + 1)

    def _leaf(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            self._left -= 5
            return value
        text = _digits(value) if isinstance(value, int | float) else str(value)
        limit = max(2, min(_MAX_STRING, self._left - 2))
        self._seen_left -= min(len(text), limit + _SEEN_BEYOND)
        kept = kept_text(text, limit)
        while _json_length(kept) > max(self._left, 4) and len(kept) > 1:  # what is escaped is longer
            kept = kept[: len(kept) // 2 - 1] + CUT
        self._left -= _json_length(kept)
        # The number of a card comes as a number too; and JSON has no infinity.
        is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
        return value if is_number and kept == text else kept

    def _take(self, characters: int, seen: int) -> bool:
        """Whether that much is left; what it takes is gone then."""
        self._left -= characters
        self._seen_left -= seen
        return self._left > 0 and self._seen_left > 0


@lru_cache(maxsize=256)
def _name(name: str) -> tuple[str, bool]:
    """A field's name as it is kept, and whether its value is a secret by it."""
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    joined = "".join(words)
    is_secret = not _SECRET_NAMES.isdisjoint(words) or any(pair in joined for pair in _SECRET_PAIRS)
    return kept_text(name, _MAX_NAME), is_secret


def _json_length(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False))


def _digits(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return CUT


def _is_card(text: str) -> bool:
    """By the check digit of Luhn, ISO/IEC 7812-1."""
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_random(word: str) -> bool:
    """Whether a long word is made as keys are: letters and digits, small and capital, change all the time, where those
    of a name, a slug or a path do not. Ids of the house are no secrets."""
    word = _UUID.sub("", word)
    if len(word) < _SHORTEST_RANDOM:
        return False
    kinds = ["" if not each.isalnum() else "0" if each.isdigit() else "A" if each.isupper() else "a" for each in word]
    changes = sum(bool(before and after) and before != after for before, after in pairwise(kinds))
    return changes * (6 if "0" in kinds else 3) >= len(word)
