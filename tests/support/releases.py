"""The release before this one, as its neighbours meet it: the same code, but for a call's first step."""

from __future__ import annotations

import shutil
from pathlib import Path

_HOUSE = Path(__file__).parents[2]
_CHANGED = "ingest"
_JOB = "call_job.py"
_BEGIN = "    outcome = _prepare(tenant_id, task_id)\n"
_STEP = """

@lasting_step("weigh_call")
def _weigh(tenant_id: str, task_id: str) -> int:
    return len(task_of(workshop(), tenant_id, task_id).id)
"""


def release_before(folder: Path) -> Path:
    """A folder from which `python -m api.command_line` runs it. All that is equal is this release's own."""
    made = folder / "release-before"
    made.mkdir()
    for path in _HOUSE.iterdir():
        if path.name != _CHANGED and not path.name.startswith("."):
            (made / path.name).symlink_to(path)
    shutil.copytree(_HOUSE / _CHANGED, made / _CHANGED, ignore=shutil.ignore_patterns("__pycache__"))
    job = made / _CHANGED / _JOB
    code = job.read_text(encoding="utf-8")
    assert code.count(_BEGIN) == 1
    job.write_text(code.replace(_BEGIN, f"    _weigh(tenant_id, task_id)\n{_BEGIN}") + _STEP, encoding="utf-8")
    return made
