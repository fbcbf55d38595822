"""The published JSON Schemas (draft 2020-12) of live events."""

from functools import cache
from importlib.resources import files

NAMES = ("sse-events", "websocket-frames")


@cache
def schema_text(name: str) -> str:
    """The schema of that name, one of `NAMES`, as JSON."""
    return (files("jury_views.live") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
