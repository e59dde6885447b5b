"""Makes a client by the Integration API, or finds it there, and takes it through its life.

PARLEY_URL=http://127.0.0.1:8080 PARLEY_SECRET=int_live_... python docs/examples/provision_client.py shop/42 "Shop 42"
"""

import os
import sys
from urllib.parse import quote

import httpx2

external_id, name = sys.argv[1], sys.argv[2]
url = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080")
clients = url + "/integration/v1/clients"
client = f"{clients}/{quote(external_id, safe='')}"

with httpx2.Client(headers={"Authorization": f"Bearer {os.environ['PARLEY_SECRET']}"}, timeout=60) as partner:
    answer = partner.post(clients, json={"external_id": external_id, "name": name})
    if answer.is_error:
        sys.exit(f"{answer.status_code} {answer.json()['error']}")
    made = answer.json()
    print("made" if made["created"] else "there already:", made["tenant_id"])

    # A key is shown once: where it was lost, only a new one helps.
    key = made.get("api_key") or partner.post(f"{client}/api-key/rotate").raise_for_status().json()["api_key"]
    chats = httpx2.get(f"{url}/public/v1/chats/list", headers={"Authorization": f"Bearer {key}"}).raise_for_status()
    print("its chats:", ", ".join(chat["name"] for chat in chats.json()["items"]))

    print("paused:", not partner.post(f"{client}/deactivate").raise_for_status().json()["is_active"])
    key = partner.post(f"{client}/reactivate").raise_for_status().json()["api_key"]  # the one to keep
    status = partner.get(client).raise_for_status().json()
    print(f"active again: {status['is_active']}, {status['balance_rub']} RUB, tariff {status['tariff']['label']}")
