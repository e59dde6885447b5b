"""Jobs that catch whatever goes wrong in a step let one thing pass: that another release began them with other steps.
They begin again then, and nothing is told of a failure."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ingest import account_export, analysis_job, deletion_warning
from store.jobs import StepsChanged

JOBS: dict[str, tuple[ModuleType, Callable[..., Any], str, str, tuple[object, ...]]] = {
    "analysis": (analysis_job, analysis_job.analyse_communication, "_run_stage", "_fail_stage", ("t", "a", 0)),
    "export": (account_export, account_export.export_account, "_build", "_end", ("t", "e")),
    "warning": (deletion_warning, deletion_warning.warn_of_deletion, "_write", "_close", ("t", "2026-03-01")),
}
"""By kind: the module, the job, the step that fails, what would tell of it, and the job's arguments."""


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("error", [StepsChanged("job", 1, "this", "that"), OSError("no room")], ids=["steps", "other"])
def test_a_job_whose_steps_are_others_now_ends_by_that_alone(
    monkeypatch: pytest.MonkeyPatch, kind: str, error: Exception
) -> None:
    module, job, step, end, arguments = JOBS[kind]
    told: list[tuple[object, ...]] = []

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, step, fail)
    for name in {end, "_end"} & set(vars(module)):
        monkeypatch.setattr(module, name, lambda *given, **_: told.append(given))
    if kind == "warning":
        monkeypatch.setattr(module, "_list_owners", lambda _: ["owner"])
    run = inspect.unwrap(job)
    if isinstance(error, StepsChanged):
        with pytest.raises(StepsChanged):
            run(*arguments)
        assert told == []
    else:
        run(*arguments)
        assert told
