"""Decoded samples are read from disk part by part."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from ingest.speech.samples import samples_of


def test_a_slice_is_that_part_of_the_file_as_of_an_array(tmp_path: Path) -> None:
    file = tmp_path / "channel-0.s16"
    whole = np.arange(1000, dtype=np.int16)
    file.write_bytes(whole.tobytes())
    samples = samples_of(file)
    assert len(samples) == 1000
    for part in (slice(0, 10), slice(990, 2000), slice(None), slice(-5, None), slice(700, 20), slice(1000, 1001)):
        np.testing.assert_array_equal(samples[part], whole[part])
    with pytest.raises(ValueError, match="one after another"):
        samples[::2]


def test_half_a_sample_at_the_end_of_a_file_that_was_cut_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "channel-0.s16"
    file.write_bytes(b"\x01\x00\x02\x00\x03")
    assert samples_of(file)[:].tolist() == [1, 2]
    file.write_bytes(b"")
    assert len(samples_of(file)[:]) == 0


def test_only_the_part_that_is_asked_for_is_held(tmp_path: Path) -> None:
    file = tmp_path / "channel-0.s16"
    with file.open("wb") as output:
        output.truncate(1_000_000_000)
    tracemalloc.start()
    try:
        samples = samples_of(file)
        assert sum(len(samples[start : start + 16_000]) for start in range(0, 160_000_000, 16_000)) == 160_000_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
