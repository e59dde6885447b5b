"""A process that charges: `python -m tests.accounts.ledger_worker DATABASE_URL TENANT_ID COUNT`.

For each number it holds, uses and charges in transactions of their own, as a server does, and prints the number once
the charge is committed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from accounts import ledger
from store.database import Database
from store.ids import new_id
from store.settings import Settings


def main() -> None:
    url, tenant_id, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    database = Database(Settings(data_dir=Path(), database_url=url, _env_file=None))  # type: ignore[call-arg]
    for number in range(count):
        key, line = f"work:{number}", ledger.Line("chat", 1)
        with database.write() as connection:
            held = ledger.hold(tenant_id, connection, key=key, lines=[line], source="test", source_ref=new_id())
        assert held
        with database.write() as connection:
            ledger.use(tenant_id, connection, hold_key=key, key=key, line=line)
        with database.write() as connection:
            ledger.charge(tenant_id, connection, hold_key=key, description="work")
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
