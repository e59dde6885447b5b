"""What the log of tool calls keeps of arguments: no secret, no more than its bound, and the words that were asked."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.redaction import MASK, MAX_CHARACTERS, kept_arguments, kept_text

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
CLIENT_KEY = "sk_live_Xk3v9-QwErTy_7uIoPaSdFgHjKlZxCvBnM12345678"
UUID = "0199f3c2-8a1b-7c3d-9e4f-5a6b7c8d9e0f"
SECRETS = {
    "a client's key": CLIENT_KEY,
    "an integration's secret": CLIENT_KEY.replace("sk_live_", "int_live_"),
    "a key of which half was pasted": "sk_live_Xk3v9QwE",
    "a model provider's key": "sk-proj-abcdefghijklmnop",
    "a forge's token": "ghp_abcdefghijklmnopqrstuvwxyz",
    "a cloud's key id": "AKIAIOSFODNN7EXAMPLE",
    "a web token": JWT,
    "a bot's token": "123456789:abcdefghijklmnopqrstuvwxyz-ABCDEFG",
    "a payment provider's key": "live_Mm7TLgVqkkbZ5d3kQXqTt0gkWbHsFh2vXyXj0aB1cDE",
    "a digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "a card": "4111 1111 1111 1111",
    "a card with hyphens": "5555-5555-5555-4444",
    "a card without spaces": "2200000000000004",
    "a private key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
}
NAMED = {
    "Authorization: Bearer {}": "short1",
    "bearer {}": "abcdefgh",
    "password={}": "hunter2",
    "my password is {} , remember": "hunter2",
    '{{"api_key": "{}", "x": 1}}': "abc def",
    "https://h.example/x?access_token={}": "abc",
    "postgresql://user:{}@db/x": "hunter2",
    "пароль: {}": "йцукен7",
    "Пароль от кабинета — это не он, а токен={}": "ёжик",
    "ключ API: {}": "абв",
    "cvv {}": "123",
    "пароль {}": "qwerty123",
    "мой пароль {} , запиши": "Ромашка",
    "login admin pass {}": "hunter",
    "логин admin пароль {}": "admin123",
    "Пароль от wifi — {}": "Zx81pass",
    "пароль от кабинета: {}": "Qwerty123",
    "password for wifi: {}": "hunter2",
    "Мой пароль был {}": "Zx81pass",
    "token {}": "7f3a9c1b",
    "secret {}": "Tr0ub4dor",
    "api key {}": "0123456789abcdef0123456789abcdef",
    "код из смс {}": "482913",
    "{} is the password": "hunter2",
    "паспорт {}": "4509 123456",
    "IBAN {} please": "DE89370400440532013000",
}
HARMLESS = (
    "key customers of May and their international testimonials",
    "Что обещали клиенту по договору № 17 до 2026-11-04?",
    "token-based pricing, passing by, two passes, секретарь Иванова, ключевые клиенты",
    "+7 916 123-45-67 or 79161234567",
    "call_79161234567_20261104T101500Z.wav",
    "Weekly-Report-2026-Product-Overview-Q3-final.docx",
    "test_driven_development_guide_for_everybody",
    "2026-11-04T10:15:00.000000+03:00",
    f"parley://communications/{UUID}",
    UUID,
    "4111 1111 1111 1112 is no card",
    f"код клиента {UUID}",
    "пароль от кабинета не подходит, клиент ждёт с 2026-11-04",
    "Which code of conduct do we follow?",
)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "find {} now", "«{}», please", "a\n{}\nb"])
def test_what_looks_like_a_secret_is_masked_wherever_it_stands(kind: str, around: str) -> None:
    text = kept_text(around.format(SECRETS[kind]), 500)
    assert text == around.format(MASK)


@pytest.mark.parametrize("around", NAMED)
def test_what_is_called_a_secret_is_masked_however_it_looks(around: str) -> None:
    text = kept_text(around.format(NAMED[around]), 500)
    assert NAMED[around] not in text
    assert MASK in text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_people_ask_and_the_house_s_ids_stay(text: str) -> None:
    assert kept_text(text, 500) == text


def test_random_keys_of_all_common_alphabets_are_masked() -> None:
    drawn = random.Random(7)
    for _ in range(2000):
        raw = drawn.randbytes(32)
        kept = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        assert kept not in kept_text(f"the key {kept} of", 500)
    missed = sum(MASK not in kept_text(drawn.randbytes(32).hex(), 500) for _ in range(2000))
    assert missed == 0


def test_a_field_named_as_a_secret_is_masked_at_any_depth() -> None:
    given_ = {
        "query": "prices",
        "apiKey": "abc",
        "options": [{"Access-Token": 17, "clientSecret": ["a", "b"], "limit": 5}],
        "X-API-KEY": {"value": "abc"},
        "пароль": "abc",
        "password": None,
        "author": "Anna",
        "tokenizer": "bm25",
        CLIENT_KEY: 1,
    }
    assert kept_arguments(given_) == {
        "query": "prices",
        "apiKey": MASK,
        "options": [{"Access-Token": MASK, "clientSecret": MASK, "limit": 5}],
        "X-API-KEY": MASK,
        "пароль": MASK,
        "password": None,
        "author": "Anna",
        "tokenizer": "bm25",
        MASK: 1,
    }


def test_the_number_of_a_card_is_masked_as_a_number_too() -> None:
    assert kept_arguments({"a": 4111111111111111, "b": 20, "at": 1_793_000_000_000}) == {
        "a": MASK,
        "b": 20,
        "at": 1_793_000_000_000,
    }


def test_a_secret_where_a_long_text_is_cut_is_not_kept_in_half() -> None:
    for length in range(440, 520):
        kept = kept_arguments({"query": "a " * (length // 2) + CLIENT_KEY})
        assert "sk_live_X" not in json.dumps(kept), length


def test_what_was_asked_is_kept_as_it_came() -> None:
    asked = {"query": "Что обещали?", "from": "2026-01-01", "limit": 10, "space_ids": [UUID], "fields": None, "x": 0.5}
    assert kept_arguments(asked) == asked
    assert kept_arguments(None) == {}


def deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    "hostile",
    [
        {"a": '"' * 100_000},
        {"a": "\\" * 600, "b": "\n" * 600, "c": "\x01" * 600, "d": "z" * 3000},
        {"a": ["\x00\ud800"] * 100_000},
        {str(number): "x" * 1000 for number in range(1000)},
        {"\x00" * 1000: 1, "\ud800": 2},
        {"a": 10**4000, "b": float("nan"), "c": float("inf"), "d": -1e308, "e": 10**400},
        {"a": [[["x"] * 100] * 100] * 100},
        {"a": [SECRETS["a web token"]] * 10_000},
        {"a": ["password: " + "x" * 700] * 10_000},
        deep(900),
    ],
    ids=["quotes", "escapes", "halves", "many", "names", "numbers", "nested", "tokens", "passwords", "deep"],
)
def test_hostile_arguments_are_bounded_and_fit_into_both_databases(hostile: dict[str, Any]) -> None:
    text = json.dumps(kept_arguments(hostile), ensure_ascii=False, allow_nan=False)
    assert len(text) <= MAX_CHARACTERS
    assert "\x00" not in text
    assert "\\u0000" not in text
    text.encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), JSON))
def test_any_arguments_are_kept_within_their_bound(arguments: dict[str, Any]) -> None:
    text = json.dumps(kept_arguments(arguments), ensure_ascii=False, allow_nan=False)
    assert len(text) <= MAX_CHARACTERS
    text.encode()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.text(max_size=600))
def test_the_caller_s_own_kind_of_key_is_masked_in_any_text(before: str, after: str) -> None:
    assert CLIENT_KEY[8:] not in kept_text(f"{before} {CLIENT_KEY} {after}", 500)
