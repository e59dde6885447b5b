"""Whatever is in a file, reading it ends in conversations or in a refusal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ingest.messages.detect import Unreadable
from tests.ingest.messages.exports import SAMPLES, Read, archive, mail

PIECES = (
    b"\n",
    b"\0",
    b"\xff",
    b"{",
    b"]",
    b'"',
    b"\\",
    b": ",
    b"<",
    b";",
    b"9" * 30,
    b"\\ud800",
    b"=?utf-8?b?",
    b"--b\n",
)


def exports(folder: Path) -> list[bytes]:
    message = mail("Hello")
    message.add_alternative("<p>Hello<blockquote>there</blockquote>", subtype="html")
    message.add_attachment(mail("Inner", number=2))
    zipped = archive(folder / "zip", {"result.json": (SAMPLES / "telegram" / "result.json").read_bytes()})
    samples = [path.read_bytes() for path in sorted(SAMPLES.rglob("*.*")) if path.suffix != ".jpg"]
    return [*samples, message.as_bytes(), zipped.read_bytes()]


@pytest.mark.parametrize("seed", range(4))
def test_a_hurt_export_is_read_or_refused(read: Read, tmp_path: Path, seed: int) -> None:
    numbers = random.Random(seed)
    whole = exports(tmp_path)
    for _ in range(100):
        data = bytearray(numbers.choice(whole))
        for _ in range(numbers.randint(1, 8)):
            at = numbers.randrange(len(data))
            data[at : at + numbers.randint(0, 20)] = numbers.choice(PIECES) * numbers.randint(0, 3)
        try:
            found = read(bytes(data), own_addresses=["roof.example"], export_folder=SAMPLES / "telegram")
        except Unreadable:
            continue
        for conversation in found:
            assert conversation.turns
            assert len(conversation.record_id) <= 64
            assert conversation.occured_at.tzinfo is not None
            assert all(turn.text or turn.media for turn in conversation.turns)
            assert not any("\0" in turn.text for turn in conversation.turns)
            labels = {person.label for person in conversation.people}
            assert len(labels - {None}) == len([person for person in conversation.people if person.label])
