"""Votes of the built-in engine."""

from __future__ import annotations

from ingest.analysis.findings import BUILT_IN, Quote, Vote


def yes(quote: Quote) -> Vote:
    return Vote(BUILT_IN, "decided", True, quote)


def no(quote: Quote | None = None) -> Vote:
    """`quote` only where the breach itself was said."""
    return Vote(BUILT_IN, "decided", False, quote)


def yes_or_no(quote: Quote | None) -> Vote:
    """What was said counts; what nobody said does not, and cannot be quoted."""
    return yes(quote) if quote else no()


def number(value: float, quote: Quote | None) -> Vote:
    return Vote(BUILT_IN, "decided", value, quote)


def undecided() -> Vote:
    return Vote(BUILT_IN, "undecided")


def not_applicable() -> Vote:
    return Vote(BUILT_IN, "not_applicable")
