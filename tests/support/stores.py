"""Stores with recorded debates in them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jury_migrations import upgrade
from jury_store import open_store
from support.runtime_harness import Run


def filled(path: Path, make: Callable[..., Run] = Run, **run: Any) -> None:
    """A SQLite store at `path` with the debates d0, d1 … of a run in this process."""
    url = f"sqlite:///{path}"
    upgrade(url)
    store = open_store(url, write=True)
    try:
        with patch.object(store, "close"):
            asyncio.run(make(store, **run).execute())
    finally:
        store.close()
