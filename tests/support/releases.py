"""Other releases, as this one meets them beside it: the next one, made of this one's code, and earlier ones, from the
history of the repository."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from store.migrate import newest_revision
from tests.support.server import RunningServer

_HOUSE = Path(__file__).parents[2]
_STEP = """

@lasting_step("look_at_{name}")
def _look(tenant_id: str, subject_id: str) -> None:
    import sqlalchemy as sa
    looked = sa.text("UPDATE {table} SET looked_at = looked_at + 1 WHERE id IN (:id, :as_sqlite_has_it)")
    with workshop().database.write() as connection:
        connection.execute(looked, {{"id": subject_id, "as_sqlite_has_it": subject_id.replace("-", "")}})
"""
_JOBS = (
    ("ingest/call_job.py", "call", "transcription_tasks", "    outcome = _prepare(tenant_id, task_id)\n", "task_id"),
    (
        "ingest/documents/document_job.py",
        "document",
        "kb_documents",
        "    fetched = _fetch(tenant_id, document_id, run)\n",
        "document_id",
    ),
    ("ingest/analysis_job.py", "analysis", "analyses", "    for stage in STAGES:\n        try:\n", "analysis_id"),
)
"""Of each kind of job: its module, its name, its table, the line before which it gets a step more, and whose id that
is given."""
_MIGRATION = """\"\"\"what the next release adds\"\"\"

import sqlalchemy as sa
from alembic import op

revision, down_revision = "{revision}", "{before}"


def upgrade() -> None:
    for table in {tables}:
        with op.batch_alter_table(table, schema=None, recreate="never") as batch_op:
            batch_op.add_column(sa.Column("looked_at", sa.Integer(), nullable=False, server_default="0"))
    op.create_table("what_is_new", sa.Column("id", sa.Integer(), primary_key=True))
"""


def next_release(folder: Path) -> Path:
    """A folder from which `python -m api.command_line` runs it: the jobs of calls, documents and analyses have another
    step each, which writes into columns that the next schema has. All that is equal is this release's own."""
    made = folder / "next-release"
    made.mkdir()
    for path in _HOUSE.iterdir():
        if path.name in ("ingest", "store"):
            shutil.copytree(path, made / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif not path.name.startswith("."):
            (made / path.name).symlink_to(path)
    for module, name, table, before, subject in _JOBS:
        path = made / module
        code = path.read_text(encoding="utf-8")
        assert code.count(before) == 1, f"{module} has another shape"
        indent = before[: len(before) - len(before.lstrip())]
        code = code.replace(before, f"{indent}_look(tenant_id, {subject})\n{before}")
        path.write_text(code + _STEP.format(name=name, table=table), encoding="utf-8")
    newest = newest_revision()
    migration = _MIGRATION.format(revision="next", before=newest, tables=tuple(table for _, _, table, _, _ in _JOBS))
    (made / "store/migrations/versions/next_release.py").write_text(migration, encoding="utf-8")
    return made


def earlier_release(folder: Path, newest_migration: str) -> Path:
    """The last one whose newest migration is that. Skips the test where there was none, and where there is no history
    to take it from."""
    following = f"store/migrations/versions/{int(newest_migration) + 1:04}_*.py"
    added = _git("log", "--diff-filter=A", "--format=%H", "--", following).decode().split()
    made = folder / f"release-{newest_migration}"
    packed = _git("archive", f"{added[-1]}^") if added else b""
    if not packed:
        pytest.skip("an earlier release is made from the repository's history, which is not here")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(made, filter="data")
    if not list((made / "store/migrations/versions").glob(f"{newest_migration}_*.py")):
        pytest.skip(f"no release ended with migration {newest_migration}: it came together with the next one")
    return made


def _git(*arguments: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(_HOUSE), *arguments], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def migrate_by(code: Path, server: RunningServer) -> None:
    """Brings the server's database to the schema of that release, whether the server runs or not."""
    command = [sys.executable, "-m", "api.command_line", "migrate"]
    done = subprocess.run(command, cwd=code, env=server.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
