"""The models of one process: opened once, and never after the end."""

from __future__ import annotations

import pytest

from rag.shared_models import SharedModels
from rag.structured import ModelClosed
from store.settings import load_settings


@pytest.fixture
def models() -> SharedModels:
    return SharedModels(load_settings(llm_model="openai/some"))


def test_the_background_model_is_one_and_a_chat_has_its_own(models: SharedModels) -> None:
    assert models.background() is models.background()
    assert models.open_chat() is not models.open_chat()


def test_after_the_end_nothing_is_opened(models: SharedModels) -> None:
    models.close()
    with pytest.raises(ModelClosed):
        models.background()
    with pytest.raises(ModelClosed):
        models.open_chat()
    models.close()


def test_a_model_opened_before_the_end_is_closed(models: SharedModels) -> None:
    background = models.background()
    assert background is not None
    models.close()
    with pytest.raises(ModelClosed):
        background.text([{"role": "user", "content": "?"}], max_tokens=5)
