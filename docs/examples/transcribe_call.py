"""Sends a recording, waits for its text and prints who said what when.

PARLEY_URL=http://127.0.0.1:8080 PARLEY_KEY=sk_live_... python docs/examples/transcribe_call.py call.wav
"""

import os
import sys
import time
import uuid
from pathlib import Path

import httpx2

path = Path(sys.argv[1])
url = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080")

with httpx2.Client(headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"}, timeout=600) as http:
    # The same key makes a repetition harmless, so that a broken connection can be tried again.
    key = {"Idempotency-Key": str(uuid.uuid4())}
    for attempt in range(3):
        try:
            with path.open("rb") as recording:
                answer = http.post(f"{url}/v1/audio/transcriptions", files={"file": recording}, headers=key)
        except httpx2.TransportError:
            time.sleep(2**attempt)
            continue
        if answer.status_code not in (409, 429, 503):
            break
        time.sleep(int(answer.headers["Retry-After"]))
    if answer.is_error:
        sys.exit(f"{answer.status_code} {answer.json()['error']}")
    accepted = answer.json()

    task, etag = f"{url}/v1/audio/transcriptions/tasks/{accepted['task_id']}", ""
    while True:
        answer = http.get(task, headers={"If-None-Match": etag})
        if answer.status_code == 200:
            etag, record = answer.headers["ETag"], answer.json()
            print(f"{record['transcription_status']} {record['progress']:.0%}", file=sys.stderr)
            if record["transcription_status"] == "error":
                sys.exit(record["transcription_error_message"])
            if record["transcription_status"] == "success":
                break
        time.sleep(1)

    found = http.get(f"{url}/public/v1/communications", params={"id": accepted["communication_id"]}).json()
    names = {each["label"]: each["name"] for each in found["speakers"] if each["label"] and each["name"]}
    for turn in found["content"]:
        minutes, seconds = divmod(turn["start_ms"] // 1000, 60)
        print(f"{minutes:02}:{seconds:02} {names.get(turn['label'], turn['label'])}: {turn['text']}")
