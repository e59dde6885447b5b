"""What a bench says of the bounds that it measures against."""

from __future__ import annotations


def said(bound: str, holds: bool) -> bool:
    """Prints it; `holds` again."""
    print(f"{bound}: {'holds' if holds else 'does NOT hold'}")
    return holds
