"""The mark of a query that rightly has no tenant. Every other query takes `tenant_id` as its first argument;
`tests/store/test_tenant_scope.py` walks the syntax trees and finds one that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def across_tenants(reason: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Marks a query over more than one tenant, with the reason why that is right."""
    assert reason

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        return function

    return mark
