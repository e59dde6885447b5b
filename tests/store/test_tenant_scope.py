"""A tenant's id is the first argument of every query; what is not so says why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

STORE = Path(__file__).parents[2] / "store"
OF_NO_TENANT = ("jobs", "database", "heartbeats")
AGGREGATES = sorted(
    path for path in STORE.glob("*.py") if path.stem not in OF_NO_TENANT and "sa.Table(" in path.read_text()
)


def queries(path: Path) -> list[ast.FunctionDef]:
    """The public functions that take a connection."""
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    return [
        function
        for function in functions
        if not function.name.startswith("_") and any(argument.arg == "connection" for argument in function.args.args)
    ]


def is_scoped(function: ast.FunctionDef) -> bool:
    """Takes the tenant first and uses it, or is marked with the reason why not."""
    marked = any(
        isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "across_tenants"
        for mark in function.decorator_list
    )
    if marked:
        return True
    first = function.args.args[0].arg
    used = any(isinstance(node, ast.Name) and node.id == "tenant_id" for node in ast.walk(function))
    return first == "tenant_id" and used


@pytest.mark.parametrize("path", AGGREGATES, ids=lambda path: path.stem)
def test_every_query_of_an_aggregate_is_scoped_to_its_tenant(path: Path) -> None:
    found = queries(path)
    assert found, f"{path.name} holds tables and no query"
    assert [function.name for function in found if not is_scoped(function)] == []


def test_the_lint_finds_a_query_without_its_tenant(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def get(connection, id): ...\ndef list_all(tenant_id, connection): return connection\n")
    assert [is_scoped(function) for function in queries(bad)] == [False, False]
